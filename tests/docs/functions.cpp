// The blocks of docs/functions.md, compiled and run: the page shows them line for line.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "calque/calque.hpp"
#include "calque/ops/sort.hpp"

namespace cq = calque;

// [monoid]
struct maxabs {
  static constexpr char name[] = "maxabs";
  template <class T>
  static constexpr T identity() {  // of no elements
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {  // associative; need not be commutative
    const T x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    return x < y ? y : x;
  }
};
CALQUE_REGISTER(maxabs);  // once, at global scope
// [monoid]

namespace {

// [loss]
constexpr auto loss = [](auto w, auto x, auto t) {
  return -cq::mean(t * cq::log_softmax(cq::matmul(x, w), cq::axis<1>));
};
constexpr auto step = cq::trace([](auto w, auto x, auto t, auto rate) {
  auto [value, grad] = cq::value_and_grad(loss)(w, x, t);  // with respect to argument 0
  w -= rate * grad;                                        // w is a variable: an effect
  return value;
});
// [loss]

// [user]
struct softsign {  // a functor of scalars, and its derivative in calque functions
  static constexpr char name[] = "softsign";
  template <class T>
  constexpr T operator()(T x) const {
    return x / (1 + (x < 0 ? -x : x));
  }
  static constexpr auto gradient(auto x, auto dy) { return dy / cq::square(1 + cq::abs(x)); }
};
constexpr auto mish = [](auto x) {  // a composition is differentiated by itself
  return x * cq::tanh(cq::log1p(cq::exp(x)));
};
// [user]

// [control]
constexpr auto control = cq::trace([](auto x, auto n) {
  auto y = cq::cond(cq::sum(x) > 0, [&] { return x; }, [&] { return -x; });
  return cq::for_loop(n, y, [&](auto i, auto state) {  // i = 0 … n - 1
    return state * 0.5f + x * cq::astype<float>(i);
  });
});
// [control]

constexpr auto parts = cq::trace([](auto x, auto y, auto index, auto u, auto image, auto filters) {
  // [parts]
  auto both = cq::concatenate<0>(x, y);           // one after the other
  auto pairs = cq::stack<2>(x, y);                // along a new axis
  auto framed = cq::pad(x, {{1, 1}, {0, 2}});     // zeros, or a value, before and after
  auto back = cq::flip(x, cq::axis<1>);           // slice(x, …) with step -1
  auto picked = cq::take(x, index, cq::axis<1>);  // columns; int32 or int64 indices
  auto sums = cq::scatter_add(x, index, 1, cq::axis<1>);
  auto length = cq::sqrt(cq::dot(u, u));             // rank 0
  auto table = cq::outer(u, u);                      // (3, 3)
  auto filtered = cq::conv2d(image, filters, 1, 1);  // stride and padding may follow
  auto pooled = cq::max_pool2d(image, 2);            // the window; stride and padding may follow
  // [parts]
  return std::tuple{both, pairs, framed, back, picked, sums, length, table, filtered, pooled};
});

std::string read(const std::string& path) {
  std::ifstream in(CALQUE_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The text between two lines `// [name]`, without the indentation of its first line.
std::string block(const std::string& source, const std::string& name) {
  const std::string mark = "// [" + name + "]\n";
  const std::size_t from = source.find(mark) + mark.size();
  std::istringstream lines(source.substr(from, source.find(mark, from) - from));
  std::string line, text;
  std::size_t indent = std::string::npos;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) line.clear();
    else if (indent == std::string::npos) indent = first;
    if (line.find("// [") == first && line.back() == ']') continue;
    text += line.empty() ? "\n" : line.substr(std::min(first, indent)) + "\n";
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

// [tower]
constexpr auto tower = cq::trace([](auto x, auto y) {
  auto left = [&] {
    const cq::device_guard on{cq::device_name{"a0"}, x};  // what is traced while it lives
    return cq::named(cq::tanh(x), "left");
  }();
  return cq::sum(left + y);  // runs where the call does
});
// [tower]

}  // namespace

CALQUE_REGISTER(softsign);  // at global scope

TEST_CASE("the blocks of docs/functions.md are these") {
  const std::string page = read("docs/functions.md"), source = read("tests/docs/functions.cpp");
  for (const char* name :
       {"make", "look", "views", "math", "more", "logic", "user", "reduce", "monoid", "statistics",
        "random", "sort", "shape", "parts", "state", "loss", "control", "call", "inspect"}) {
    const std::string code = block(source, name);
    INFO(name, ":\n", code);
    REQUIRE(code.size() > 40);
    CHECK(page.find("```cpp\n" + code + "```") != std::string::npos);
  }
}

TEST_CASE("making, reading and viewing arrays") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  // [make]
  cq::array<float, 2> a{{1, 2, 3}, {4, 5, 6}};     // nested lists, ranks 1 to 4
  cq::array<float, 1> b(v);                        // copies a vector or a span
  auto c = cq::borrow(v.data(), cq::shape{2, 3});  // sees it; strides may follow
  auto zeros = cq::zeros<float>(cq::shape{2, 3});  // ones, full(shape, v)
  auto like = cq::zeros_like(a);                   // ones_like
  auto steps = cq::arange<float>(0, 10, 2);        // or arange<float>(n)
  auto line = cq::linspace(0.f, 1.f, 101);         // both ends included
  auto unit = cq::eye<float>(3);                   // the unit matrix
  cq::array<float, 0> s = 2.5f;                    // rank 0: a number
  // [make]
  CHECK(a(1, 2) == 6);
  CHECK(b.size() == 6);
  CHECK(c(1, 0) == 4);
  CHECK((zeros.size() == 6 && like.size() == 6 && steps.size() == 5 && line.size() == 101));
  CHECK((unit(2, 2) == 1 && s.item() == 2.5f));

  // [look]
  float x = a(1, 2);      // an element; a.at(1, 2) checks the index
  a(0, 0) = 7;            // shared storage is detached before a write
  float only = s.item();  // the one element; rank 0 also converts by itself
  std::vector<float> all = a.to_vector();
  a.copy_to(v);                         // row-major; copy_from(…) is the way back
  std::int64_t rows = a.extent(0);      // also shape(), size(), bytes(), strides()
  cq::array<float, 2> own = a.clone();  // plain copies share until one is written
  // [look]
  CHECK((x == 6 && only == 2.5f && all.size() == 6 && v[0] == 7 && rows == 2));
  CHECK(own(0, 0) == 7);

  // [views]
  auto odd = cq::slice(line, cq::range{1, cq::range::open, 2});  // NumPy's line[1::2]
  auto t = cq::transpose(a);                                     // transpose<1, 0>(a): any order
  auto flat = cq::reshape(a, cq::shape{6});                      // shares where strides allow
  auto wide = cq::broadcast_to(steps, cq::shape{3, 5});          // read-only, stride 0
  // [views]
  CHECK((odd.size() == 50 && t.extent(0) == 3 && flat.size() == 6 && wide.extent(0) == 3));
}

TEST_CASE("functions of arrays and symbols alike") {
  const cq::array<float, 2> x{{1, -2, 3}, {4, 5, -6}}, y{{1, 1, 1}, {2, 2, 2}};
  // [math]
  auto z = 2 * x + y / 3 - -x;            // NumPy's broadcasting; also += -= *= /=
  auto m = x > 0;                         // == != < <= > >=: bool
  auto w = cq::where(m, cq::sqrt(x), 0);  // by element
  auto e = cq::exp(x), l = cq::log(y), h = cq::tanh(x), a = cq::abs(x);
  auto big = cq::maximum(x, 0), small = cq::minimum(x, y);
  auto i = cq::astype<std::int32_t>(x);  // saturates; NaN becomes 0
  // [math]
  CHECK((z.size() == 6 && w(0, 1) == 0 && e.size() == 6 && l(0, 0) == 0 && h.size() == 6));
  CHECK((a(0, 1) == 2 && big(0, 1) == 0 && small(0, 1) == -2 && i(1, 2) == -6));

  // [more]
  auto f1 = cq::erf(x), f2 = cq::sin(x), f3 = cq::cos(x), f4 = cq::tan(x);
  auto f5 = cq::expm1(x), f6 = cq::log1p(y), f7 = cq::sigmoid(x), f8 = cq::rsqrt(y);
  auto f9 = cq::pow(y, 1.5f), angle = cq::atan2(x, y), rest = cq::fmod(x, 2.f);
  auto down = cq::floor(x), up = cq::ceil(x), near = cq::round(x);  // halves to the even one
  auto s = cq::sign(x), c = cq::clip(x, -1, 1), sq = cq::square(x), inv = cq::reciprocal(x);
  auto r = cq::relu(x), si = cq::silu(x), ge = cq::gelu(x);
  auto nan = cq::isnan(x);  // isinf, isfinite: bool
  // [more]
  CHECK((f1.size() + f2.size() + f3.size() + f4.size() + f5.size() + f6.size() == 36));
  CHECK((f7.size() + f8.size() + f9.size() + angle.size() + rest.size() + si.size() == 36));
  CHECK((down(0, 1) == -2 && up(0, 1) == -2 && near(0, 1) == -2 && s(0, 1) == -1 && c(1, 2) == -1));
  CHECK((sq(1, 0) == 16 && inv(1, 0) == 0.25f && r(0, 1) == 0 && ge(0, 1) < 0 && !nan(0, 0)));

  const cq::array<std::int32_t, 1> k{13, -7}, j{4, 0};
  // [logic]
  auto both = (x > 0) & (x < 4);  // & | ^ ! keep bool; && and || do not work on arrays
  auto bits = (k & 6) | (k ^ ~j);
  auto moved = (k << 2) - (k >> j);                            // counts past the width: 0 or -1
  auto remainder = k % j;                                      // by zero: the dividend
  auto ratio = cq::true_divide(k, 2);                          // double; k / 2 truncates
  auto any = cq::logical_or(k, j), none = cq::logical_not(k);  // numbers: not zero is true
  // [logic]
  CHECK((both(0, 0) && bits.size() == 2 && moved.size() == 2 && remainder(1) == -7));
  CHECK((ratio(0) == 6.5 && any(1) && !none(0)));

  auto soft = cq::apply<softsign>(x);
  CHECK((soft(0, 0) == 0.5f && mish(x).size() == 6));

  // [reduce]
  auto total = cq::sum(x);              // over all axes: rank 0
  auto rows = cq::sum(x, cq::axis<1>);  // over one or more: axis<0, -1>
  auto kept = cq::mean(x, cq::axis<1>, cq::keepdims);
  auto top = cq::max(x);
  auto least = cq::min(x, cq::axis<0>);    // NaN if there is one
  auto best = cq::argmax(x, cq::axis<1>);  // int64, the first of equals; also argmin
  auto p = cq::softmax(x, cq::axis<1>), lp = cq::log_softmax(x, cq::axis<1>);
  // [reduce]
  CHECK((total.item() == 5 && rows.size() == 2 && kept.extent(1) == 1 && top.item() == 5));
  CHECK((least(1) == -2 && best(0) == 2 && p.size() == 6 && lp.size() == 6));

  const cq::array<int, 1> classes{2, 0};
  const auto gamma = cq::ones<float>(cq::shape{3}), beta = cq::zeros<float>(cq::shape{3});
  // [statistics]
  auto every = cq::all(x != 0), some = cq::any(x > 4);  // bool; true and false of nothing
  auto spread = cq::var(x, cq::axis<1>);                // also std; cq::ddof<1> for a sample's
  auto lengths = cq::vector_norm(x, cq::axis<1>);       // squared in double: 1e30f is no trouble
  auto lse = cq::logsumexp(x, cq::axis<1>);             // stable; -inf of nothing
  auto running = cq::cumsum(x, cq::axis<0>);            // also cumprod; types as for sum
  auto far = cq::accumulate<maxabs>(x, cq::axis<1>);    // with a monoid of yours
  auto most = cq::reduce<maxabs>(x, cq::axis<1>);       // neighbours only, in order
  auto loss_of_rows = cq::cross_entropy(x, classes);    // their mean; or cq::no_reduction
  auto normal = cq::layer_norm(x, gamma, beta);         // over the last axis; eps = 1e-5
  // [statistics]
  CHECK((every.item() && some.item() && spread.size() == 2 && lengths.size() == 2 && lse(0) > 3));
  CHECK((running(1, 0) == 5 && far(1, 2) == 6 && most(0) == 3 && loss_of_rows.item() > 0));
  CHECK(normal.size() == 6);

  // [random]
  cq::rng state{42};                                            // passed like a variable
  auto u = cq::random::uniform<float>(state, cq::shape{2, 3});  // in [0, 1), or [lo, hi)
  auto g = cq::random::normal<double>(state, cq::shape{5});     // or with mean and deviation
  auto coins = cq::random::bernoulli(state, cq::shape{4}, 0.5);
  constexpr auto noisy = cq::trace([](auto v, auto s) { return cq::dropout(s, v, 0.5f); });
  auto dropped = noisy(x, state);  // other numbers at every call
  // [random]
  CHECK((u.size() == 6 && g.size() == 5 && coins.size() == 4 && dropped.size() == 6));

  // [sort]
  auto ranked = cq::sort(x, cq::axis<1>, cq::descending);  // stable, NaN last
  auto places = cq::argsort(x, cq::axis<1>);               // int64
  // [sort]
  CHECK((ranked(0, 0) == 3 && places(0, 0) == 1));

  const cq::array<std::uint8_t, 1> labels{2, 0};
  // [shape]
  auto product = cq::matmul(x, cq::transpose(y));  // (…, m, k) by (…, k, n), or vectors
  auto target = cq::one_hot<float>(labels, 3);     // a new last axis of classes
  auto column = cq::sum_to(x, cq::shape{2, 1});    // the inverse of broadcast_to
  // [shape]
  CHECK((product(0, 0) == 2 && target(0, 2) == 1 && column(0, 0) == 2));

  const auto [joined, pairs, framed, back, picked, sums, length, table, filtered, pooled] =
      parts(x, y, cq::array<int, 1>{2, 0, 2}, cq::array<float, 1>{1, 2, 2},
            cq::ones<float>(cq::shape{1, 2, 4, 4}), cq::ones<float>(cq::shape{3, 2, 3, 3}));
  CHECK((joined(2, 0) == 1 && pairs(0, 0, 1) == 1 && framed.shape() == cq::shape{4, 5}));
  CHECK((back(0, 0) == 3 && picked(1, 1) == 4 && sums(1, 2) == -4 && length.item() == 3));
  CHECK((table(1, 2) == 4 && filtered(0, 2, 1, 1) == 18 && pooled(0, 1, 1, 1) == 1));
}

TEST_CASE("variables, gradients, control flow, calls and plans") {
  // [state]
  cq::variable<float, 2> w{cq::zeros<float>(cq::shape{3, 2}), "w"};  // copies are handles
  w.assign(cq::ones<float>(cq::shape{3, 2}));                        // from the host
  cq::array<float, 2> now = w.value();                               // later writes leave it alone
  // [state]
  CHECK(now(0, 0) == 1);
  const cq::array<float, 2> x{{1, 2, 3}, {4, 5, 6}}, t{{1, 0}, {0, 1}};
  const float first = step(w, x, t, 0.1f), second = step(w, x, t, 0.1f);
  CHECK(second < first);
  CHECK(control(x, 3).size() == 6);

  cq::array<float, 1> u{1, 2, 3}, out = cq::zeros<float>(cq::shape{3});
  // [call]
  constexpr auto f = cq::trace([](auto a, auto b) { return std::tuple{a + b, a * b}; });
  auto [sum, product] = f(u, 2.f);  // results in f's own structure
  cq::array<float, 1> mine = cq::zeros<float>(cq::shape{3});
  f.into(cq::outs(out, mine), u, 2.f);   // into existing arrays: allocates nothing
  auto slow = cq::eager(f)(u, 2.f);      // the body itself, operation by operation
  constexpr auto only = cq::pick<0>(f);  // computes the first result alone
  // [call]
  CHECK((sum(0) == 3 && product(0) == 2 && mine(0) == 2 && std::get<0>(slow)(0) == 3));
  CHECK(only(u, 2.f)(0) == 3);

  // [inspect]
  static_assert(
      cq::graph_of<step, cq::variable<float, 2>, cq::array<float, 2>, cq::array<float, 2>, float>()
          .kernels() > 0);
  auto plan = step.plan(w, x, t, 0.1f);   // made, not run
  std::string why = plan.explain();       // a line a step; also dump, dot, json
  cq::bytes peak = plan.peak_bytes();     // what a call takes
  cq::cache_stats s = step.stats();       // hits, misses, launches, …
  std::string reason = step.last_miss();  // why this thread's last plan was made
  // [inspect]
  CHECK((why.size() > 100 && peak.count() > 0 && s.hits > 0 && !reason.empty()));
}

TEST_CASE("devices") {
  using namespace cq::literals;
  const cq::array<float, 1> x{1, 2, 3};
  // [devices]
  auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .limit = 64_MiB}, {.name = "a1"}});
  auto there = x.to(vs[0]);  // a copy; a0 holds no more than its limit
  cq::array<float, 0> total;
  {
    const cq::device_guard on{vs[1]};  // the calls of this thread, in this scope
    total = tower(there, x);           // tanh on a0, the sum on a1, where the result stays
  }
  float value = total.item();                   // copied to be read
  auto bytes = vs[1].counters().bytes_in;       // and launches, transfers, bytes in use, peak
  std::vector<cq::device> all = cq::devices();  // cpu:0, a0, a1
  // [devices]

  std::ostringstream log;
  // [placement]
  cq::set_log_sink([&](std::string_view line) { log << line << '\n'; });  // once a plan
  auto placed = tower.plan(x, x);                                         // nothing runs
  cq::node_placement p = placed.placement_of("left");  // or of result 0: p.assigned, p.requested
  std::string cause = p.reason;                        // "asked for by a guard in the body"
  // [placement]
  cq::set_log_sink(nullptr);
  CHECK((p.assigned == vs[0] && cause.size() > 9 && log.str().find("left: (tanh): a0") < 999));
  CHECK((value > 8 && bytes == 24 && all.size() == 3 && there.device() == vs[0]));
}
