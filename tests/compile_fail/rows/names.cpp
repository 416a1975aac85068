// Errors name the function that was called: a wrong call a line, with the text that it has to give.
#include <calque/calque.hpp>
#include <calque/ops/sort.hpp>

namespace cq = calque;

struct most {
  static constexpr char name[] = "most";
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
CALQUE_REGISTER(most);
struct no_name {
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  constexpr T operator()(T a, T) const {
    return a;
  }
};

template <class T, int Rank>
using symbol = cq::expr<T, Rank>;

// clang-format off
void rows(symbol<float, 0> s, symbol<float, 1> v, symbol<float, 2> x, symbol<int, 1> k,
          symbol<std::int64_t, 1> l, symbol<std::uint64_t, 1> u, cq::rng_expr g) {
  (void)cq::sum(x, cq::axis<2>);  // expect: cq::sum\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::sum(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::sum\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::prod(x, cq::axis<2>);  // expect: cq::prod\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::prod(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::prod\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::all(x, cq::axis<2>);  // expect: cq::all\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::all(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::all\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::any(x, cq::axis<2>);  // expect: cq::any\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::any(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::any\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::max(x, cq::axis<2>);  // expect: cq::max\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::max(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::max\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::min(x, cq::axis<2>);  // expect: cq::min\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::min(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::min\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::mean(x, cq::axis<2>);  // expect: cq::mean\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::mean(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::mean\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::var(x, cq::axis<2>);  // expect: cq::var\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::var(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::var\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::std(x, cq::axis<2>);  // expect: cq::std\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::std(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::std\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::vector_norm(x, cq::axis<2>);  // expect: cq::vector_norm\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::vector_norm(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::vector_norm\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::logsumexp(x, cq::axis<2>);  // expect: cq::logsumexp\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::logsumexp(x, cq::axis<1, -1>, cq::keepdims);  // expect: cq::logsumexp\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::var(x, cq::axis<-3>, cq::ddof<1>);  // expect: cq::var\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::std(x, cq::axis<0, 0>, cq::ddof<1>);  // expect: cq::std\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::argmax(x, cq::axis<-3>);  // expect: cq::argmax\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::argmin(x, cq::axis<-3>);  // expect: cq::argmin\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::cumsum(x, cq::axis<-3>);  // expect: cq::cumsum\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::cumprod(x, cq::axis<-3>);  // expect: cq::cumprod\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::softmax(x, cq::axis<-3>);  // expect: cq::softmax\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::log_softmax(x, cq::axis<-3>);  // expect: cq::log_softmax\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::sort(x, cq::axis<-3>);  // expect: cq::sort\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::argsort(x, cq::axis<-3>);  // expect: cq::argsort\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::sort(x, cq::axis<2>, cq::descending);  // expect: cq::sort\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::reduce<most>(x, cq::axis<2>);  // expect: cq::reduce<F>\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::reduce<most>(x, cq::axis<0, 0>);  // expect: cq::reduce<F>\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::accumulate<most>(x, cq::axis<2>);  // expect: cq::accumulate<F>\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::layer_norm(x, 1, 0, cq::axis<2>);  // expect: cq::layer_norm\(x, gamma, beta, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::layer_norm(x, 1, 0, cq::axis<0, -2>);  // expect: cq::layer_norm\(x, gamma, beta, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis twice
  (void)cq::layer_norm(v, x, 0);  // expect: cq::layer_norm\(x, gamma, beta\): gamma and beta must have no more axes than x
  (void)cq::layer_norm(k, 1, 0);  // expect: cq::layer_norm\(x, gamma, beta\): x must be floating
  (void)cq::layer_norm(s, 1, 0);  // expect: cq::layer_norm\(x, gamma, beta\): x must have one axis or more
  (void)cq::flip(x, cq::axis<2>);  // expect: cq::flip\(x, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::take(x, k, cq::axis<2>);  // expect: cq::take\(x, indices, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::take(x, v, cq::axis<0>);  // expect: cq::take\(x, indices, cq::axis<\.\.\.>\): indices must be int32 or int64
  (void)cq::take(x, 1.5, cq::axis<0>);  // expect: cq::take\(x, indices, cq::axis<\.\.\.>\): an index must be an integer
  (void)cq::scatter_add(x, k, 1, cq::axis<2>);  // expect: cq::scatter_add\(x, indices, updates, cq::axis<\.\.\.>\): cq::axis<\.\.\.> names an axis that x does not have
  (void)cq::scatter_add(x, v, 1, cq::axis<0>);  // expect: cq::scatter_add\(x, indices, updates, cq::axis<\.\.\.>\): indices must be int32 or int64
  (void)cq::scatter_add(x, 1.5, 1, cq::axis<0>);  // expect: cq::scatter_add\(x, indices, updates, cq::axis<\.\.\.>\): an index must be an integer
  (void)cq::concatenate<2>(x, x);  // expect: cq::concatenate<axis>\(x, y, \.\.\.\): no such axis
  (void)cq::stack<3>(x, x);  // expect: cq::stack<axis>\(x, y, \.\.\.\): no such axis
  (void)cq::maximum(l, u);  // expect: cq::maximum\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::minimum(l, u);  // expect: cq::minimum\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::pow(l, u);  // expect: cq::pow\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::atan2(l, u);  // expect: cq::atan2\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::true_divide(l, u);  // expect: cq::true_divide\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::bitwise_and(l, u);  // expect: cq::bitwise_and\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::bitwise_or(l, u);  // expect: cq::bitwise_or\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::bitwise_xor(l, u);  // expect: cq::bitwise_xor\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::bitwise_left_shift(l, u);  // expect: cq::bitwise_left_shift\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::bitwise_right_shift(l, u);  // expect: cq::bitwise_right_shift\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::dot(l, u);  // expect: cq::dot\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::outer(l, u);  // expect: cq::outer\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::clip(l, u, 1);  // expect: cq::clip\(x, low, high\): no integer type holds both int64 and uint64; cast one
  (void)cq::clip(l, 0, u);  // expect: cq::clip\(x, low, high\): no integer type holds both int64 and uint64; cast one
  (void)cq::where(v > 0, l, u);  // expect: cq::where\(p, a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::matmul(l, u);  // expect: cq::matmul\(a, b\): no integer type holds both int64 and uint64; cast one
  (void)cq::concatenate<0>(l, u);  // expect: cq::concatenate<axis>\(x, y, \.\.\.\): no type holds the elements of all operands
  (void)cq::stack<0>(l, u);  // expect: cq::stack<axis>\(x, y, \.\.\.\): no type holds the elements of all operands
  (void)cq::scatter_add(l, k, u, cq::axis<0>);  // expect: cq::scatter_add\(x, indices, updates, axis\): no integer type holds both int64 and uint64; cast one
  (void)cq::dot(x, v);  // expect: cq::dot\(a, b\): both operands must have rank 1
  (void)cq::outer(x, v);  // expect: cq::outer\(a, b\): both operands must have rank 1
  (void)cq::cross_entropy(x, x);  // expect: cq::cross_entropy\(logits, labels\): logits need an axis more than labels
  (void)cq::cross_entropy(x, v);  // expect: cq::cross_entropy\(logits, labels\): labels must be integers
  (void)cq::one_hot<float>(v, 3);  // expect: cq::one_hot\(labels, depth\): labels must be integers
  (void)cq::conv2d(x, x);  // expect: cq::conv2d\(x, w\): x must have rank 4
  (void)cq::max_pool2d(v, 2);  // expect: cq::max_pool2d\(x, window\): x must have rank 2 to 6
  (void)cq::max_pool2d(x > 0, 2);  // expect: cq::max_pool2d\(x, window\): x is bool
  (void)cq::pad(x, {{1, 1}});  // expect: cq::pad\(x, \{\{before, after\}, \.\.\.\}\): give one pair of widths for each axis
  (void)cq::pad(k, {{1, 1}}, 0.5);  // expect: cq::pad\(x, widths, value\): value has a higher kind than x
  (void)cq::sum_to(v, cq::shape{2, 3});  // expect: cq::sum_to\(x, shape\): the shape has more axes than x
  (void)cq::fmod(k, k);  // expect: cq::fmod\(x, y\): x or y must be floating
  (void)cq::dropout(g, k, 0.5);  // expect: cq::dropout\(state, x, p\): x must be floating
  (void)cq::dropout(x, x, 0.5);  // expect: cq::dropout\(state, x, p\): the first argument must be a cq::rng
  (void)cq::random::bernoulli(x, cq::shape{2}, 0.5);  // expect: cq::random::bernoulli\(state, shape, p\): the first argument must be a cq::rng
  (void)cq::random::uniform<float>(x, cq::shape{2});  // expect: cq::random::uniform<T>\(state, shape\): the first argument must be a cq::rng
  (void)cq::random::uniform<int>(g, cq::shape{2}, 1, 2);  // expect: cq::random::uniform<T>\(state, shape, lo, hi\): T must be float or double
  (void)cq::random::normal<int>(g, cq::shape{2});  // expect: cq::random::normal<T>\(state, shape\): T must be float or double
  (void)cq::random::normal<float>(x, cq::shape{2}, 0, 1);  // expect: cq::random::normal<T>\(state, shape, mean, deviation\): the first argument must be a cq::rng
  (void)cq::reduce<no_name>(x);  // expect: cq::reduce<F>\(x\): functor F needs a name
  (void)cq::accumulate<no_name>(x, cq::axis<0>);  // expect: cq::accumulate<F>\(x, axis\): functor F needs a name
}
// clang-format on
