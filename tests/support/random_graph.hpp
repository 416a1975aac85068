// Random graphs with matching arguments, from a seed: every operation, all regions, effects.
//
// The generator knows the real extents, so that what it builds is valid for them; it draws extents
// from the whole table, so that equal sizes are often not proven equal. Float sums and products of
// matrices get operands that make them exact, so that any order of summation gives the same bits.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "calque/ops/cast.hpp"
#include "calque/ops/logic.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/matmul.hpp"
#include "calque/ops/parts.hpp"
#include "calque/ops/reduce.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/take.hpp"
#include "calque/ops/views.hpp"
#include "calque/ops/windows.hpp"
#include "support/arguments.hpp"
#include "support/interpreter.hpp"
#include "support/placed.hpp"

namespace calque::test {

/// A graph and the arguments that it is valid for.
struct random_graph {
  graph g;
  std::vector<tensor> arguments;
};

class graph_generator {
 public:
  explicit graph_generator(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  random_graph make() {
    make_arguments();
    generate(below(20) == 0 ? 60 : 6 + below(20));
    std::vector<std::int32_t> results;
    for (int k = 1 + below(4); k > 0; --k) results.push_back(any());
    random_graph r;
    r.g = b_.finish(results.data(), static_cast<int>(results.size()));
    r.arguments = arguments_;
    return r;
  }

 private:
  static constexpr std::int64_t most_elements = 4096;
  static constexpr dtype types[] = {dtype::float32, dtype::float64, dtype::int32,
                                    dtype::int64,   dtype::uint8,   dtype::boolean};

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  dtype any_type() { return types[below(6)]; }
  const node& at(int id) const { return b_.at(id); }

  // --- extents ---------------------------------------------------------------------------------

  std::int64_t extent(int d) {
    const dim e = b_.g.dims[d];
    switch (e.kind) {
      case dim_kind::literal: return e.value;
      case dim_kind::argument: {
        const tensor& a = arguments_[static_cast<std::size_t>(e.a)];
        const auto axis = static_cast<std::size_t>(e.b);
        return b_.g.arguments[e.a].kind == argument_kind::extents ? a.data[axis].i : a.shape[axis];
      }
      case dim_kind::broadcast: return extent(e.a) == 1 ? extent(e.b) : extent(e.a);
      case dim_kind::add: return extent(e.a) + extent(e.b);
      case dim_kind::sub: return extent(e.a) - extent(e.b);
      case dim_kind::mul: return extent(e.a) * extent(e.b);
      case dim_kind::div: return extent(e.b) == 0 ? 0 : extent(e.a) / extent(e.b);
      case dim_kind::maximum: return std::max(extent(e.a), extent(e.b));
      case dim_kind::range: return 0;
      case dim_kind::count: {
        const dim r = b_.g.dims[e.b];
        return calque::detail::resolve({extent(r.a), extent(r.b), r.value}, extent(e.a)).count;
      }
    }
    return 0;
  }
  extents shape(int id) {
    extents s;
    for (int i = 0; i < at(id).rank; ++i) s.push_back(extent(at(id).dims[i]));
    return s;
  }
  static std::int64_t product(const extents& s) {
    std::int64_t n = 1;
    for (std::int64_t e : s) n *= e;
    return n;
  }
  /// An extent of the table; not one of the bounds of ranges.
  int any_dim() {
    while (true) {
      const int d = below(b_.g.dims.size());
      if (b_.g.dims[d].kind != dim_kind::range && extent(d) >= 0) return d;
    }
  }
  /// An extent of the table that is `v` for these arguments, or a literal.
  int dim_with(std::int64_t v) {
    for (int tries = 0; tries < 6; ++tries) {
      const int d = below(b_.g.dims.size() + 1);
      if (d < b_.g.dims.size() && b_.g.dims[d].kind != dim_kind::range && extent(d) == v) return d;
    }
    return b_.literal_dim(v);
  }
  void unify(int a, int b) {
    for (int i = 0; i < at(a).rank; ++i) b_.unify(at(a).dims[i], at(b).dims[i]);
  }

  // --- arguments -------------------------------------------------------------------------------

  std::int64_t random_extent() {
    constexpr std::int64_t extents_drawn[] = {0, 1, 2, 3, 7, 33, 3, 2, 7};
    return chance(12) ? 0 : extents_drawn[1 + below(8)];
  }
  constant random_element(dtype t) {
    if (t == dtype::boolean) return {0, below(2)};
    if (is_floating(t)) {
      constexpr double special[] = {0.0,
                                    -0.0,
                                    1e20,
                                    -1e-30,
                                    3e38,
                                    std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
      const double v = chance(24) ? special[below(7)] : (below(33) - 16) * 0.25;
      return detail::narrowed(t, {v, 0});
    }
    if (chance(24))
      return detail::narrowed(t, {0, chance(2) ? std::numeric_limits<std::int64_t>::min()
                                               : std::numeric_limits<std::int32_t>::min()});
    return detail::narrowed(t, {0, below(17) - (is_signed_integer(t) ? 8 : 0)});
  }
  tensor random_tensor(dtype t, const extents& s) {
    tensor r{t, s, {}};
    for (std::int64_t n = r.size(); n > 0; --n) r.data.push_back(random_element(t));
    return r;
  }
  void make_arguments() {
    b_.literal_dim(1);
    extents common;
    for (int i = 0; i < 3; ++i) common.push_back(random_extent());
    const int count = 2 + below(4);
    for (int i = 0; i < count; ++i) {
      const int what = below(10);
      const dtype t = chance(2) ? dtype::float32 : any_type();
      extents s;
      if (what < 2) {
        arguments_.push_back(scalar_tensor(what ? t : dtype::int64, random_element(t)));
        if (!what) arguments_.back().data[0] = {0, below(5)};
        visible_.push_back(argument_of(b_, argument_kind::scalar, arguments_.back().type));
      } else if (what == 2) {
        const int rank = 1 + below(2);
        arguments_.push_back({dtype::int64, {rank}, {}});
        for (int axis = 0; axis < rank; ++axis)
          arguments_.back().data.push_back({0, chance(2) ? pick(common) : random_extent()});
        const int a = extents_of(b_, rank);
        for (int axis = 0; axis < rank; ++axis) b_.argument_dim(a, axis);
      } else {
        for (int rank = below(5); rank > 0; --rank)
          s.push_back(chance(4) ? random_extent() : chance(5) ? 1 : pick(common));
        while (product(s) > most_elements / 4) s.pop_back();
        const auto kind = what < 5 ? argument_kind::variable : argument_kind::array;
        arguments_.push_back(random_tensor(t, s));
        if (!s.empty() && chance(4)) flatten(arguments_.back(), below(static_cast<int>(s.size())));
        const int id = argument_of(b_, kind, t, static_cast<int>(s.size()));
        if (kind == argument_kind::variable) variables_.push_back(id);
        visible_.push_back(id);
      }
    }
    if (visible_.empty()) visible_.push_back(b_.number(dtype::float32, 1.5));
  }

  // --- choosing values -------------------------------------------------------------------------

  int any() {
    const int recent = static_cast<int>(visible_.size());
    const int i = chance(2) ? below(recent) : recent - 1 - below(std::min(recent, 4));
    return b_.value_of(visible_[static_cast<std::size_t>(i)]);
  }
  int any_of_type(dtype t) {
    for (int tries = 0; tries < 6; ++tries)
      if (const int id = any(); at(id).type == t) return id;
    const int id = any();
    return at(id).type == t ? id : b_.map_of<op::cast>(t, id);
  }
  int any_number() {
    const int id = any();
    return at(id).type == dtype::boolean ? b_.map_of<op::cast>(dtype::int32, id) : id;
  }
  int any_float() {
    const int id = any();
    return is_floating(at(id).type) ? id : b_.map_of<op::cast>(types[below(2)], id);
  }
  bool broadcasts(const extents& a, const extents& b) {
    std::int64_t n = 1;
    for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
      const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1,
                         y = i <= b.size() ? b[b.size() - i] : 1;
      if (x != y && x != 1 && y != 1) return false;
      n *= x == 1 ? y : x;
    }
    return n <= most_elements;
  }
  /// A value of type `t` that broadcasts with `id`.
  int partner(int id, dtype t) {
    for (int tries = 0; tries < 4; ++tries)
      if (const int p = any_of_type(t); broadcasts(shape(id), shape(p))) return p;
    return b_.constant_of(t, random_element(t));
  }
  /// Multiples of 1/8 from -64 to 64: sums and products of matrices of them are exact.
  int exact(int id) {
    const dtype t = at(id).type;
    if (!is_floating(t)) return id;
    const int whole = b_.map_of<op::cast>(dtype::int32, b_.map_of<op::mul>(t, id, b_.number(t, 8)));
    const int back = b_.map_of<op::cast>(t, whole);
    const int low = b_.map_of<op::maximum>(t, back, b_.number(t, -512));
    return b_.map_of<op::mul>(t, b_.map_of<op::minimum>(t, low, b_.number(t, 512)),
                              b_.number(t, 0.125));
  }
  /// Without -0, so that the extremes of ties have one sign.
  int without_negative_zero(int id) {
    const dtype t = at(id).type;
    return is_floating(t) ? b_.map_of<op::add>(t, id, b_.number(t, 0)) : id;
  }

  // --- operations ------------------------------------------------------------------------------

  void generate(int count) {
    for (int i = 0; i < count; ++i) {
      const int id = operation();
      if (id < 0) continue;
      visible_.push_back(id);
      if (chance(6)) b_.set_name(id, chance(2) ? "y" : "layer");
    }
  }
  int operation() {
    switch (below(41)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: return binary();
      case 6:
      case 7: return unary();
      case 8: return floating();
      case 9:
      case 10: return comparison();
      case 11:
      case 12: return choice();
      case 13: return b_.map_of<op::cast>(any_type(), any());
      case 14:
      case 15: return reduction();
      case 16: return index();
      case 17: return sum_down();
      case 18: return transposed(any());
      case 19: return reshaped(any());
      case 20: return broadcast(any());
      case 21:
      case 22: return product_of_matrices();
      case 23: return counted();
      case 24: return chance(2) ? b_.extent_of(any_dim()) : literal();
      case 25: return same_value();
      case 26:
      case 27: return written();
      case 28: return choice_of_regions();
      case 29: return loop();
      case 30: return running();
      case 31: return other_reduction();
      case 32: return part();
      case 33: return taken();
      case 34: return scattered();
      case 35: return windowed();
      case 36:
      case 37: return assembled();
      default: return removable();
    }
  }
  int literal() {
    const dtype t = any_type();
    return b_.constant_of(t, random_element(t));
  }
  int binary() {
    const int a = any_number();
    const dtype t = at(a).type;
    const int b = partner(a, t);
    if (chance(4)) return is_floating(t) ? floating_of_two(t, a, b) : of_integers(t, a, b);
    switch (below(6)) {
      case 0: return b_.map_of<op::add>(t, a, b);
      case 1: return b_.map_of<op::sub>(t, b, a);
      case 2: return b_.map_of<op::mul>(t, a, b);
      case 3: return b_.map_of<op::div>(t, a, b);
      case 4: return b_.map_of<op::maximum>(t, a, b);
      default: return b_.map_of<op::minimum>(t, a, b);
    }
  }
  int floating_of_two(dtype t, int a, int b) {
    switch (below(3)) {
      case 0: return b_.map_of<op::pow>(t, a, b);
      case 1: return b_.map_of<op::atan2>(t, a, b);
      default: return b_.map_of<op::fmod>(t, a, b);
    }
  }
  int of_integers(dtype t, int a, int b) {
    switch (below(6)) {
      case 0: return b_.map_of<op::bitwise_and>(t, a, b);
      case 1: return b_.map_of<op::bitwise_or>(t, a, b);
      case 2: return b_.map_of<op::bitwise_xor>(t, a, b);
      case 3: return b_.map_of<op::shift_left>(t, a, b);
      case 4: return b_.map_of<op::shift_right>(t, a, b);
      default: return b_.map_of<op::remainder>(t, a, b);
    }
  }
  int unary() {
    if (const int p = any_of_type(dtype::boolean); chance(6))
      return b_.map_of<op::bitwise_not>(dtype::boolean, p);
    const int a = any_number();
    if (chance(4)) return b_.map_of<op::sign>(at(a).type, a);
    if (!is_floating(at(a).type) && chance(4)) return b_.map_of<op::bitwise_not>(at(a).type, a);
    return chance(2) ? b_.map_of<op::neg>(at(a).type, a) : b_.map_of<op::abs>(at(a).type, a);
  }
  int floating() {
    const int a = any_float();
    const dtype t = at(a).type;
    switch (below(15)) {
      case 4: return b_.map_of<op::erf>(t, a);
      case 5: return b_.map_of<op::sin>(t, a);
      case 6: return b_.map_of<op::cos>(t, a);
      case 7: return b_.map_of<op::tan>(t, a);
      case 8: return b_.map_of<op::expm1>(t, a);
      case 9: return b_.map_of<op::log1p>(t, a);
      case 10: return b_.map_of<op::sigmoid>(t, a);
      case 11: return b_.map_of<op::rsqrt>(t, a);
      case 12: return b_.map_of<op::floor>(t, a);
      case 13: return b_.map_of<op::ceil>(t, a);
      case 14: return b_.map_of<op::round>(t, a);
      case 0: return b_.map_of<op::exp>(t, a);
      case 1: return b_.map_of<op::log>(t, a);
      case 2: return b_.map_of<op::sqrt>(t, a);
      default: return b_.map_of<op::tanh>(t, a);
    }
  }
  int comparison() {
    const int a = any_number(), b = partner(a, at(a).type);
    if (chance(6)) return b_.map_of<op::isnan>(dtype::boolean, a);
    if (chance(6)) return b_.map_of<op::isfinite>(dtype::boolean, a);
    if (chance(12)) return b_.map_of<op::isinf>(dtype::boolean, a);
    switch (below(6)) {
      case 0: return b_.map_of<op::less>(dtype::boolean, a, b);
      case 1: return b_.map_of<op::less_equal>(dtype::boolean, a, b);
      case 2: return b_.map_of<op::greater>(dtype::boolean, a, b);
      case 3: return b_.map_of<op::greater_equal>(dtype::boolean, a, b);
      case 4: return b_.map_of<op::equal>(dtype::boolean, a, b);
      default: return b_.map_of<op::not_equal>(dtype::boolean, a, b);
    }
  }
  int choice() {
    const int p = any_of_type(dtype::boolean);
    const int a = partner(p, any_type()), b = partner(a, at(a).type);
    if (!broadcasts(shape(p), shape(b))) return -1;
    if (!broadcasts(shape(b_.map_of<op::add>(at(a).type, a, b)), shape(p))) return -1;
    return b_.map_of<op::where>(at(a).type, p, a, b);
  }
  int reduction() {
    int x = any();
    const unsigned mask = static_cast<unsigned>(below(1 << at(x).rank));
    const bool keep = chance(2);
    if (chance(2)) {
      x = exact(x);
      return detail::build_reduction<op::sum>(b_, x, mask, keep, sum_type(at(x).type));
    }
    const extents s = shape(x);
    for (std::size_t i = 0; i < s.size(); ++i)
      if (((mask >> i) & 1u) && s[i] == 0) return -1;
    if (at(x).type == dtype::boolean) return -1;
    x = without_negative_zero(x);
    return chance(2) ? detail::build_reduction<op::reduce_max>(b_, x, mask, keep, at(x).type)
                     : detail::build_reduction<op::reduce_min>(b_, x, mask, keep, at(x).type);
  }
  /// 1 and -1: products of them are exact.
  int signs(int id) {
    const dtype t = at(id).type;
    const int up = b_.map_of<op::greater>(dtype::boolean, id, b_.number(t, 0));
    return b_.map_of<op::where>(t, up, b_.number(t, 1), b_.number(t, -1));
  }
  int widened(int id) {
    const dtype t = sum_type(at(id).type);
    return at(id).type == t ? id : b_.map_of<op::cast>(t, id);
  }
  int running() {
    int x = any_number();
    if (at(x).rank == 0) return -1;
    const int axis = below(at(x).rank);
    const detail::running how{chance(3), chance(3)};
    x = widened(x);
    return chance(2) ? detail::build_accumulation<op::cumsum>(b_, exact(x), axis, how)
                     : detail::build_accumulation<op::cumprod>(b_, signs(x), axis, how);
  }
  int other_reduction() {
    const bool truth = chance(2);
    const int x = truth ? any_of_type(dtype::boolean) : signs(widened(any_number()));
    const unsigned mask = static_cast<unsigned>(below(1 << at(x).rank));
    const bool keep = chance(2);
    if (!truth) return detail::build_reduction<op::prod>(b_, x, mask, keep, at(x).type);
    return chance(2) ? detail::build_reduction<op::all>(b_, x, mask, keep, dtype::boolean)
                     : detail::build_reduction<op::any>(b_, x, mask, keep, dtype::boolean);
  }
  int index() {
    const int x = any_number();
    if (at(x).rank == 0) return -1;
    const int axis = below(at(x).rank);
    if (shape(x)[static_cast<std::size_t>(axis)] == 0) return -1;
    const bool keep = chance(2);
    return chance(2) ? detail::build_reduction<op::argmax>(b_, x, 1u << axis, keep, dtype::int64)
                     : detail::build_reduction<op::argmin>(b_, x, 1u << axis, keep, dtype::int64);
  }
  int sum_down() {
    const int x = exact(any_number());
    const extents s = shape(x);
    const int extra = below(at(x).rank + 1);
    std::vector<std::int32_t> dims;
    for (int i = extra; i < at(x).rank; ++i) {
      const auto e = s[static_cast<std::size_t>(i)];
      dims.push_back(chance(3) ? dim_with(1) : chance(2) ? at(x).dims[i] : dim_with(e));
    }
    return with_extents<op::sum_to>(x, dims);
  }
  /// Unlike `build`, also where the extents are the same: passes must cope with that.
  template <class Op>
  int with_extents(int x, const std::vector<std::int32_t>& dims) {
    node n = builder::make<Op>(at(x).type, static_cast<int>(dims.size()));
    std::copy(dims.begin(), dims.end(), n.dims);
    return b_.append_with(n, x);
  }
  int transposed(int x) {
    std::int8_t perm[max_rank]{};
    for (int i = 0; i < at(x).rank; ++i) perm[i] = static_cast<std::int8_t>(i);
    std::shuffle(perm, perm + at(x).rank, random_);
    return op::transpose::build(b_, x, perm);
  }
  int reshaped(int x) {
    std::int64_t left = product(shape(x));
    std::vector<std::int32_t> dims;
    for (int i = below(3); i > 0; --i) {
      constexpr std::int64_t factors[] = {1, 2, 3, 7};
      const std::int64_t f = factors[below(4)];
      if (left % f != 0) continue;
      dims.push_back(dim_with(f));
      left /= f;
    }
    if (left != 1 || chance(3)) dims.push_back(dim_with(left));
    std::shuffle(dims.begin(), dims.end(), random_);
    return with_extents<op::reshape>(x, dims);
  }
  int broadcast(int x) {
    std::vector<std::int32_t> dims;
    std::int64_t room = most_elements / std::max<std::int64_t>(1, product(shape(x)));
    const auto stretch = [&] {
      const std::int64_t e = random_extent();
      const int d = dim_with(e <= room ? e : 1);
      room /= std::max<std::int64_t>(1, extent(d));
      return d;
    };
    if (at(x).rank < 4 && chance(2)) dims.push_back(stretch());
    for (int i = 0; i < at(x).rank; ++i)
      dims.push_back(extent(at(x).dims[i]) == 1 && chance(2) ? stretch() : at(x).dims[i]);
    return with_extents<op::broadcast_to>(x, dims);
  }
  int product_of_matrices() {
    const int a = as_matrix(any_number());
    if (a < 0) return -1;
    const dtype t = at(a).type;
    for (int tries = 0; tries < 4; ++tries) {
      int b = any_of_type(t);
      if (at(b).rank != 2) b = chance(2) ? as_matrix(b) : a;
      if (b < 0) continue;
      if (shape(b)[0] != shape(a)[1]) {
        constexpr std::int8_t swapped[] = {1, 0};
        b = op::transpose::build(b_, b, swapped);
      }
      if (shape(b)[0] == shape(a)[1] && shape(a)[0] * shape(b)[1] <= most_elements / 6 &&
          shape(a)[1] <= 33) {
        const auto repeated = [&](int x) {
          std::vector<std::int32_t> dims(at(x).dims, at(x).dims + at(x).rank);
          dims.insert(dims.begin(), dim_with(chance(3) ? 1 : 2));
          if (chance(2)) dims.insert(dims.begin(), dim_with(3));
          return with_extents<op::broadcast_to>(x, dims);
        };
        const bool left = chance(2), right = chance(2);
        return op::matmul::build(b_, left ? repeated(exact(a)) : exact(a),
                                 right ? repeated(exact(b)) : exact(b));
      }
    }
    return -1;
  }
  int as_matrix(int x) {
    if (at(x).rank == 2) return x;
    const extents s = shape(x);
    if (s.empty()) return with_extents<op::reshape>(x, {b_.literal_dim(1), b_.literal_dim(1)});
    const std::int64_t rest = product({s.begin() + 1, s.end()});
    return with_extents<op::reshape>(x, {at(x).dims[0], b_.literal_dim(rest)});
  }
  dim random_range(int d) {
    const std::int64_t e = extent(d);
    const auto bound = [&](bool open) {
      if (open) return b_.literal_dim(range::open);
      if (chance(6)) return b_.canonical(d);
      return b_.literal_dim(static_cast<std::int64_t>(below(static_cast<int>(e) + 4)) -
                            (chance(3) ? e : 0));
    };
    constexpr std::int64_t steps[] = {1, 1, 1, -1, 2, -3};
    const std::int64_t step = steps[below(6)];
    return {dim_kind::range, bound(step < 0 || chance(3)), bound(chance(2)), step};
  }
  int part() {
    const int x = any();
    dim ranges[max_rank]{};
    for (int i = 0; i < at(x).rank; ++i)
      ranges[i] = chance(2) ? detail::whole_range(b_) : random_range(at(x).dims[i]);
    return op::slice::build(b_, x, ranges);
  }
  int assembled() {
    const int x = any();
    const extents s = shape(x);
    if (s.empty()) return -1;
    if (chance(2)) {
      dim ranges[max_rank]{};
      for (int i = 0; i < at(x).rank; ++i)
        ranges[i] = chance(2) ? detail::whole_range(b_) : random_range(at(x).dims[i]);
      int p = op::slice::build(b_, x, ranges);
      if (at(p).type != dtype::boolean && chance(2)) p = b_.map_of<op::neg>(at(p).type, p);
      std::vector<std::int32_t> dims(at(x).dims, at(x).dims + at(x).rank);
      const int c = b_.constant_of(at(x).type, random_element(at(x).type));
      return op::insert::build(b_, chance(2) ? x : with_extents<op::broadcast_to>(c, dims), p,
                               ranges);
    }
    const int axis = below(at(x).rank);
    std::vector<std::int32_t> parts{x};
    std::int64_t along = s[static_cast<std::size_t>(axis)];
    const std::int64_t rest =
        product(s) / std::max<std::int64_t>(1, s[static_cast<std::size_t>(axis)]);
    for (int tries = 0; tries < 5; ++tries) {
      const int y = chance(3) ? parts.back() : any_of_type(at(x).type);
      extents o = shape(y);
      if (o.size() != s.size()) continue;
      const std::int64_t n = o[static_cast<std::size_t>(axis)];
      o[static_cast<std::size_t>(axis)] = s[static_cast<std::size_t>(axis)];
      if (o != s || (along + n) * rest > most_elements) continue;
      along += n;
      parts.push_back(y);
    }
    return op::concatenate::build(b_, parts.data(), static_cast<int>(parts.size()), axis);
  }
  /// Integers in [0, extent) that are no constants.
  int any_indices(std::int64_t extent) {
    const int x = any();
    const dtype t = chance(2) ? dtype::int32 : dtype::int64;
    const int i = b_.map_of<op::cast>(t, x);
    const int low = b_.map_of<op::maximum>(t, i, b_.number(t, 0));
    return b_.map_of<op::minimum>(t, low, b_.number(t, static_cast<double>(extent - 1)));
  }
  int taken() {
    const int x = any();
    if (at(x).rank == 0) return -1;
    const int axis = below(at(x).rank);
    const std::int64_t extent = shape(x)[static_cast<std::size_t>(axis)];
    if (extent == 0) return -1;
    const int i = any_indices(extent);
    if (at(x).rank - 1 + at(i).rank > 5 ||
        product(shape(x)) / extent * product(shape(i)) > most_elements)
      return -1;
    return op::take::build(b_, x, i, axis);
  }
  int scattered() {
    const int x = exact(any_number());
    if (at(x).rank == 0) return -1;
    const int axis = below(at(x).rank);
    const std::int64_t extent = shape(x)[static_cast<std::size_t>(axis)];
    if (extent == 0) return -1;
    const int i = any_indices(extent);
    if (at(x).rank - 1 + at(i).rank > 5 ||
        product(shape(x)) / extent * product(shape(i)) > most_elements)
      return -1;
    return op::scatter_add::build(b_, x, i, op::take::build(b_, chance(2) ? x : exact(x), i, axis),
                                  axis);
  }
  /// Windows, summed where they overlap or reduced.
  int windowed() {
    const int x = exact(any_number());
    const int rank = at(x).rank;
    if (rank < 2 || rank > 4) return -1;
    const extents s = shape(x);
    detail::window_dims w{};
    std::int64_t size = product(s);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t e = s[static_cast<std::size_t>(rank - 2 + i)];
      if (e == 0) return -1;
      const std::int64_t window = 1 + below(static_cast<int>(std::min<std::int64_t>(e, 3)));
      w.window[i] = dim_with(window);
      w.stride[i] = dim_with(1 + below(3));
      size *= window;
    }
    if (size > most_elements) return -1;
    const int v = detail::build_windows<op::windows>(b_, x, -1, w);
    if (chance(3))
      return detail::build_reduction<op::pool_max>(b_, without_negative_zero(v), 3u << rank, false,
                                                   at(x).type);
    return chance(2) ? v : op::overlap_add::build(b_, x, chance(2) ? v : exact(v), w);
  }
  int counted() {
    const int rank = 1 + below(3);
    std::int32_t dims[3];
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t e = random_extent();
      dims[i] = dim_with(n * e <= most_elements ? e : 1);
      n *= extent(dims[i]);
    }
    const dtype t = types[below(5)];
    return b_.iota(t, rank, dims, below(rank));
  }
  int same_value() {
    const int x = any();
    node n = chance(2) ? builder::make<op::marker>(at(x).type, at(x).rank)
                       : builder::make<op::stop_gradient>(at(x).type, at(x).rank);
    std::copy(at(x).dims, at(x).dims + at(x).rank, n.dims);
    return b_.append_with(n, x);
  }
  int written() {
    if (variables_.empty()) return -1;
    const int v = pick(variables_);
    if (chance(4)) return b_.value_of(v);
    const dtype t = at(v).type;
    int x = -1;
    for (int tries = 0; tries < 6; ++tries)
      if (const int y = any(); at(y).type == t && shape(y) == shape(v)) x = y;
    if (x < 0 || chance(3)) {
      const int now = b_.value_of(v);
      if (t == dtype::boolean) return -1;
      const int y = b_.constant_of(t, random_element(t));
      x = chance(2) ? b_.map_of<op::add>(t, now, y) : b_.map_of<op::mul>(t, y, now);
    }
    b_.assign(v, x);
    return x;
  }

  // --- what passes rewrite ---------------------------------------------------------------------

  int removable() {
    const int x = any_number();
    const dtype t = at(x).type;
    const auto uniform = [&](double v) {
      const int c = b_.number(t, v);
      if (!chance(3)) return c;
      std::vector<std::int32_t> dims(at(x).dims, at(x).dims + at(x).rank);
      return with_extents<op::broadcast_to>(c, dims);
    };
    switch (below(14)) {
      case 0:
        return chance(2) ? b_.map_of<op::mul>(t, x, uniform(1))
                         : b_.map_of<op::mul>(t, uniform(1), x);
      case 1: return b_.map_of<op::div>(t, x, uniform(1));
      case 2: return b_.map_of<op::sub>(t, x, uniform(0));
      case 3: return b_.map_of<op::add>(t, x, uniform(-0.0));
      case 4: return b_.map_of<op::neg>(t, b_.map_of<op::neg>(t, x));
      case 5: return b_.map_of<op::cast>(t, x);
      case 6: return transposed(transposed(x));
      case 7: {
        constexpr std::int8_t still[] = {0, 1, 2, 3, 4, 5, 6, 7};
        return op::transpose::build(b_, x, still);
      }
      case 8: {
        std::vector<std::int32_t> dims(at(x).dims, at(x).dims + at(x).rank);
        const auto end = [&] { return dims.begin() + below(static_cast<int>(dims.size()) + 1); };
        if (dims.size() < 6) dims.insert(end(), b_.literal_dim(1));
        const int y = with_extents<op::reshape>(x, dims);
        if (dims.size() < 6) dims.insert(end(), b_.literal_dim(1));
        return with_extents<op::reshape>(y, dims);
      }
      case 9: {
        std::vector<std::int32_t> dims(at(x).dims, at(x).dims + at(x).rank);
        if (chance(3)) return with_extents<op::sum_to>(exact(x), dims);
        return chance(2) ? with_extents<op::reshape>(x, dims)
                         : with_extents<op::broadcast_to>(x, dims);
      }
      case 10: {
        const int p = b_.constant_of(dtype::boolean, {0, below(2)});
        const int y = chance(2) ? partner(x, t) : x;
        return b_.map_of<op::where>(t, p, x, y);
      }
      case 11: {
        const int a = b_.constant_of(t, random_element(t)),
                  b = b_.constant_of(t, random_element(t));
        const int c = chance(2) ? b_.map_of<op::add>(t, a, b) : b_.map_of<op::div>(t, a, b);
        return chance(2) ? b_.map_of<op::mul>(t, x, c) : c;
      }
      case 12: {  // the same twice
        const int y = partner(x, t);
        const int a = b_.map_of<op::add>(t, x, y), b = b_.map_of<op::add>(t, x, y);
        return b_.map_of<op::less>(dtype::boolean, a, b);
      }
      default: return b_.extent_of(b_.literal_dim(random_extent()));
    }
  }

  // --- regions ---------------------------------------------------------------------------------

  std::vector<std::int32_t> region_results(int count) {
    std::vector<std::int32_t> r;
    for (int i = 0; i < count; ++i) r.push_back(any());
    return r;
  }
  void close(std::size_t visible, const std::vector<std::int32_t>& results) {
    b_.end_region(results.data(), static_cast<int>(results.size()));
    visible_.resize(visible);
    --depth_;
  }
  int predicate() {
    const int x = any_number();
    const dtype t = at(x).type;
    int scalar = x;
    if (at(x).rank != 0)
      scalar = detail::build_reduction<op::sum>(b_, exact(x), (1u << at(x).rank) - 1, false,
                                                sum_type(t));
    const dtype s = at(scalar).type;
    return b_.map_of<op::less>(dtype::boolean, scalar, b_.constant_of(s, random_element(s)));
  }
  int choice_of_regions() {
    if (depth_ >= 2) return -1;
    const int p = chance(6) ? b_.constant_of(dtype::boolean, {0, below(2)}) : predicate();
    const std::size_t visible = visible_.size();
    const int count = below(4);
    ++depth_;
    const int a = b_.begin_region(false);
    generate(1 + below(5));
    const std::vector<std::int32_t> first = region_results(count);
    close(visible, first);
    ++depth_;
    const int b = b_.begin_region(false);
    generate(1 + below(5));
    std::vector<std::int32_t> second;
    for (std::int32_t f : first) {
      int like = -1;
      for (int tries = 0; tries < 8; ++tries)
        if (const int y = any(); at(y).type == at(f).type && shape(y) == shape(f)) like = y;
      if (like < 0) {
        std::vector<std::int32_t> dims(at(f).dims, at(f).dims + at(f).rank);
        like = with_extents<op::broadcast_to>(
            b_.constant_of(at(f).type, random_element(at(f).type)), dims);
      }
      second.push_back(like);
    }
    close(visible, second);
    const int owner = cond_of(b_, p, a, b);
    for (int k = 0; k < count; ++k) {
      unify(first[static_cast<std::size_t>(k)], second[static_cast<std::size_t>(k)]);
      visible_.push_back(b_.result_of(owner, k, at(first[static_cast<std::size_t>(k)])));
    }
    return -1;
  }
  int loop() {
    if (depth_ >= 2) return -1;
    int trip = -1, steps_dim = -1;
    std::int64_t steps = 0;
    if (const int what = below(5); what < 2) {
      steps = below(6) - 1;
      trip = b_.constant_of(dtype::int64, {0, steps});
      steps = std::max<std::int64_t>(0, steps);
      steps_dim = b_.literal_dim(steps);
    } else if (what < 4) {
      steps_dim = any_dim();
      steps = extent(steps_dim);
      if (steps > 7 || steps < 0) return -1;
      trip = b_.extent_of(steps_dim);
    } else {  // not known before the call
      const int a = any_number();
      trip = b_.map_of<op::minimum>(at(a).type, a, b_.number(at(a).type, 4));
      if (at(trip).rank != 0) return -1;
      if (at(trip).type != dtype::int64) trip = b_.map_of<op::cast>(dtype::int64, trip);
    }
    std::vector<std::int32_t> inputs{trip};
    const int carried = below(3);
    for (int k = 0; k < carried; ++k) inputs.push_back(any());
    if (steps_dim >= 0)
      for (int k = below(3); k > 0; --k) {
        const int x = any();
        if (at(x).rank == 0 || shape(x)[0] != steps) continue;
        b_.unify(at(x).dims[0], steps_dim);
        inputs.push_back(x);
      }
    const std::size_t visible = visible_.size();
    ++depth_;
    const int region = b_.begin_region(true);
    visible_.push_back(b_.region_argument(builder::make<op::region_arg>(dtype::int64)));
    std::vector<std::int32_t> states;
    for (int k = 1; k < static_cast<int>(inputs.size()); ++k) {
      node like = at(inputs[static_cast<std::size_t>(k)]);
      if (k > carried) {
        --like.rank;
        for (int i = 0; i < like.rank; ++i) like.dims[i] = like.dims[i + 1];
      }
      const int a = b_.region_argument(like);
      visible_.push_back(a);
      if (k <= carried) states.push_back(a);
    }
    generate(1 + below(6));
    std::vector<std::int32_t> next;
    for (int s : states) {
      int like = chance(4) ? s : -1;
      for (int tries = 0; tries < 8 && like < 0; ++tries)
        if (const int y = any(); at(y).type == at(s).type && shape(y) == shape(s)) like = y;
      if (like < 0 || (like == s && chance(2)))
        like = at(s).type == dtype::boolean
                   ? s
                   : b_.map_of<op::add>(at(s).type, s,
                                        b_.constant_of(at(s).type, random_element(at(s).type)));
      unify(like, s);
      next.push_back(like);
    }
    if (steps_dim >= 0)
      for (int k = below(3); k > 0; --k)
        if (const int y = any(); steps * product(shape(y)) <= most_elements && at(y).rank < 4)
          next.push_back(y);
    close(visible, next);
    const int owner =
        loop_of(b_, region, inputs.data(), static_cast<int>(inputs.size()), carried, chance(3));
    for (int k = 0; k < static_cast<int>(next.size()); ++k) {
      node like = at(next[static_cast<std::size_t>(k)]);
      if (k < carried) {
        like = at(inputs[static_cast<std::size_t>(1 + k)]);
      } else {
        for (int i = like.rank; i > 0; --i) like.dims[i] = like.dims[i - 1];
        like.dims[0] = steps_dim;
        ++like.rank;
      }
      visible_.push_back(b_.result_of(owner, k, like));
    }
    return -1;
  }

  std::mt19937_64 random_;
  builder b_;
  std::vector<tensor> arguments_;
  std::vector<int> visible_;  // nodes that may be used here; variables by their handles
  std::vector<int> variables_;
  int depth_ = 0;
};

inline random_graph make_random_graph(std::uint64_t seed) { return graph_generator(seed).make(); }

}  // namespace calque::test
