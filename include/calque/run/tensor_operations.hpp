// Operations on dense values, element by element: the arithmetic of the interpreter.
//
// Values are rows of `constant`, rounded to their type after each operation; or, with
// `rounding::none`, floating values stay doubles. Slow and plain on purpose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "calque/core/range.hpp"
#include "calque/graph/graph.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque::reference {

using extents = std::vector<std::int64_t>;

/// Product of the extents from axis `first` on. Unsigned on the way: beside an extent of 0 the
/// others may multiply past 64 bits.
inline std::int64_t product(const extents& shape, std::size_t first = 0) {
  std::uint64_t n = 1;
  for (std::size_t i = first; i < shape.size(); ++i) n *= static_cast<std::uint64_t>(shape[i]);
  return static_cast<std::int64_t>(n);
}

/// Elements in row-major order.
struct tensor {
  dtype type = dtype::none;
  extents shape;
  std::vector<constant> data;

  [[nodiscard]] std::int64_t size() const { return product(shape); }
  [[nodiscard]] int rank() const { return static_cast<int>(shape.size()); }
};

inline tensor scalar_tensor(dtype t, constant v) { return {t, {}, {v}}; }

/// The same type, extents and elements: integers and signs of zeros exactly, any NaN like another.
inline bool same_values(const tensor& a, const tensor& b) {
  if (a.type != b.type || a.shape != b.shape || a.data.size() != b.data.size()) return false;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    const double x = a.data[i].f, y = b.data[i].f;
    if (a.data[i].i != b.data[i].i) return false;
    if (x != y && !(x != x && y != y)) return false;
    if (x == y && std::signbit(x) != std::signbit(y)) return false;
  }
  return true;
}

/// What a graph may not do for the given sizes.
struct interpreter_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class rounding { to_type, none };

/// A graph's extents for the values at hand, and its operations on values.
class tensor_operations {
 public:
  [[nodiscard]] std::int64_t extent(int d) const { return extents_[static_cast<std::size_t>(d)]; }

 protected:
  tensor_operations(const graph_view& g, std::vector<tensor> arguments, rounding r)
      : g_(g), arguments_(std::move(arguments)), rounding_(r) {}

  static void require(bool condition, const char* text) {
    if (!condition) throw interpreter_error(text);
  }
  void find_extents() {
    extents_.clear();
    for (int i = 0; i < g_.dim_count; ++i) {
      const dim& d = g_.dims[i];
      const auto of = [&](int k) { return extents_[static_cast<std::size_t>(k)]; };
      std::int64_t e = d.value;
      switch (d.kind) {
        case dim_kind::literal: break;
        case dim_kind::argument: {
          const tensor& a = arguments_[static_cast<std::size_t>(d.a)];
          const auto axis = static_cast<std::size_t>(d.b);
          e = g_.arguments[d.a].kind == argument_kind::extents ? a.data[axis].i : a.shape[axis];
          break;
        }
        case dim_kind::broadcast: e = of(d.a) == 1 ? of(d.b) : of(d.a); break;
        case dim_kind::add: e = detail::wrap_add(of(d.a), of(d.b)); break;
        case dim_kind::sub: e = detail::wrap_sub(of(d.a), of(d.b)); break;
        case dim_kind::mul: e = detail::wrap_mul(of(d.a), of(d.b)); break;
        case dim_kind::div: e = of(d.b) == 0 ? 0 : of(d.a) / of(d.b); break;
        case dim_kind::maximum: e = std::max(of(d.a), of(d.b)); break;
        case dim_kind::range: e = 0; break;
        case dim_kind::count: e = range_of(d.b, of(d.a)).count; break;
      }
      extents_.push_back(e);
    }
    for (int i = 0; i < g_.dim_count; ++i)
      require(extent(i) == extent(g_.canonical(i)), "extents proven equal differ");
  }
  /// What entry `r` of the extents' table keeps of an axis of `extent`.
  detail::resolved_range range_of(int r, std::int64_t extent) const {
    const dim& e = g_.dims[r];
    return detail::resolve(
        {extents_[static_cast<std::size_t>(e.a)], extents_[static_cast<std::size_t>(e.b)], e.value},
        extent);
  }
  extents extents_of(const node& n) const {
    extents e;
    for (int i = 0; i < n.rank; ++i) e.push_back(extent(n.dims[i]));
    return e;
  }

  static std::int64_t stride(const extents& shape, std::size_t axis) {
    return product(shape, axis + 1);
  }
  /// Where element `at` of `shape` lies in an operand that is broadcast to it from the right.
  static std::size_t broadcast_index(std::int64_t at, const extents& shape, const extents& of) {
    std::int64_t index = 0, scale = 1;
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      const std::int64_t e = shape[shape.size() - i], c = at % e;
      at /= e;
      if (i > of.size()) continue;
      const std::int64_t f = of[of.size() - i];
      if (f != 1) index += c * scale;
      scale *= f;
    }
    return static_cast<std::size_t>(index);
  }
  tensor broadcast(const tensor& x, const extents& to) const {
    require(x.shape.size() <= to.size(), "broadcast_to: fewer axes");
    for (std::size_t i = 1; i <= x.shape.size(); ++i)
      require(x.shape[x.shape.size() - i] == 1 || x.shape[x.shape.size() - i] == to[to.size() - i],
              "broadcast_to: extents do not fit");
    tensor r{x.type, to, {}};
    const std::int64_t n = r.size();
    for (std::int64_t i = 0; i < n; ++i) r.data.push_back(x.data[broadcast_index(i, to, x.shape)]);
    return r;
  }
  tensor iota(const node& n) const {
    tensor r{n.type, extents_of(n), {}};
    const auto axis = static_cast<std::size_t>(n.index);
    const std::int64_t step = stride(r.shape, axis), count = r.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t v = i / step % r.shape[axis];
      r.data.push_back(is_floating(n.type) ? narrowed_for(n.type, {static_cast<double>(v), 0})
                                           : detail::narrowed(n.type, {0, v}));
    }
    return r;
  }
  constant narrowed_for(dtype t, constant c) const {
    return rounding_ == rounding::none && is_floating(t) ? c : detail::narrowed(t, c);
  }

  constant call(const op_info& o, dtype in, dtype out, const constant* operands) const {
    if (rounding_ == rounding::none) {
      if (is_floating(in)) in = dtype::float64;
      if (is_floating(out)) out = dtype::float64;
    }
    return o.evaluate(in, out, operands);
  }
  /// Element numbers of `x` that go to each element of the result, in order.
  static std::vector<std::vector<std::size_t>> groups(const tensor& x, unsigned mask) {
    extents kept;
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      if (!((mask >> i) & 1u)) kept.push_back(x.shape[i]);
    std::vector<std::vector<std::size_t>> r(static_cast<std::size_t>(product(kept)));
    const std::int64_t n = x.size();
    for (std::int64_t at = 0; at < n; ++at) {
      std::int64_t to = 0;
      for (std::size_t i = 0; i < x.shape.size(); ++i)
        if (!((mask >> i) & 1u)) to = to * x.shape[i] + at / stride(x.shape, i) % x.shape[i];
      r[static_cast<std::size_t>(to)].push_back(static_cast<std::size_t>(at));
    }
    return r;
  }
  constant total(dtype from, dtype to, const tensor& x, const std::vector<std::size_t>& at) const {
    if (is_floating(to)) {  // as exact as can be, then rounded once
      long double s = 0;
      for (std::size_t i : at)
        s += is_floating(from) ? static_cast<long double>(x.data[i].f)
                               : static_cast<long double>(x.data[i].i);
      return narrowed_for(to, {static_cast<double>(s), 0});
    }
    std::uint64_t s = 0;
    for (std::size_t i : at) s += static_cast<std::uint64_t>(x.data[i].i);
    return detail::narrowed(to, {0, static_cast<std::int64_t>(s)});
  }
  constant product_of(dtype t, const tensor& x, const std::vector<std::size_t>& at) const {
    long double p = 1;
    std::uint64_t whole = 1;
    for (std::size_t i : at)
      p *= static_cast<long double>(x.data[i].f), whole *= static_cast<std::uint64_t>(x.data[i].i);
    return is_floating(t) ? narrowed_for(t, {static_cast<double>(p), 0})
                          : detail::narrowed(t, {0, static_cast<std::int64_t>(whole)});
  }
  tensor reduce(const node& n, const tensor& x) const {
    tensor r{n.type, extents_of(n), {}};
    const std::string_view name = n.op->name;
    for (const auto& group : groups(x, n.axis_mask)) {
      if (name == "sum") {
        r.data.push_back(total(x.type, n.type, x, group));
        continue;
      }
      if (name == "prod") {
        r.data.push_back(product_of(n.type, x, group));
        continue;
      }
      const bool low = name == "min" || name == "all";
      if (group.empty() && (name == "all" || name == "any" || name == "largest")) {
        const double least = -std::numeric_limits<double>::infinity();
        r.data.push_back(is_floating(n.type) ? constant{least, 0} : constant{0, low});
        continue;
      }
      require(!group.empty(), "an extreme of nothing");
      const op_info& better = low ? op_info_of<op::minimum> : op_info_of<op::maximum>;
      constant best = x.data[group[0]];
      for (std::size_t i : group) {
        const constant pair[] = {best, x.data[i]};
        best = call(better, x.type, n.type, pair);
      }
      r.data.push_back(best);
    }
    require(static_cast<std::int64_t>(r.data.size()) == r.size(),
            "extents differ from the table's");
    return r;
  }
  tensor arg_reduce(const node& n, const tensor& x) const {
    tensor r{n.type, extents_of(n), {}};
    const bool most = std::string_view(n.op->name) == "argmax";
    const auto value = [&](std::size_t i) { return x.data[i]; };
    for (const auto& group : groups(x, n.axis_mask)) {
      require(!group.empty(), "an index into nothing");
      std::size_t best = 0;
      for (std::size_t k = 1; k < group.size(); ++k) {
        const constant a = value(group[best]), b = value(group[k]);
        bool wins = false;
        if (is_floating(x.type))
          wins = a.f == a.f && (b.f != b.f || (most ? b.f > a.f : b.f < a.f));
        else if (x.type == dtype::uint64)
          wins = most ? static_cast<std::uint64_t>(b.i) > static_cast<std::uint64_t>(a.i)
                      : static_cast<std::uint64_t>(b.i) < static_cast<std::uint64_t>(a.i);
        else wins = most ? b.i > a.i : b.i < a.i;
        if (wins) best = k;
      }
      r.data.push_back({0, static_cast<std::int64_t>(best)});
    }
    return r;
  }
  tensor sum_to(const node& n, const tensor& x) const {
    const extents to = extents_of(n);
    unsigned mask = 0;
    const std::size_t extra = x.shape.size() - to.size();
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
      if (i < extra || (to[i - extra] == 1 && x.shape[i] != 1)) mask |= 1u << i;
      else require(to[i - extra] == x.shape[i], "sum_to: extents do not fit");
    }
    tensor r{n.type, to, {}};
    for (const auto& group : groups(x, mask)) r.data.push_back(total(x.type, n.type, x, group));
    return r;
  }
  static tensor transpose(const node& n, const tensor& x) {
    tensor r{n.type, {}, {}};
    for (int i = 0; i < n.rank; ++i)
      r.shape.push_back(x.shape[static_cast<std::size_t>(n.perm[i])]);
    const std::int64_t count = r.size();
    for (std::int64_t at = 0; at < count; ++at) {
      std::int64_t from = 0;
      for (std::size_t i = 0; i < n.rank; ++i)
        from += at / stride(r.shape, i) % r.shape[i] *
                stride(x.shape, static_cast<std::size_t>(n.perm[i]));
      r.data.push_back(x.data[static_cast<std::size_t>(from)]);
    }
    return r;
  }
  tensor matmul(const node& n, const tensor& a, const tensor& b) const {
    const auto p = static_cast<std::size_t>(a.rank()), q = static_cast<std::size_t>(b.rank());
    require(a.shape[p - 1] == b.shape[q - 2], "matmul: inner extents differ");
    tensor r{n.type, extents_of(n), {}};
    const auto rows = static_cast<std::size_t>(a.shape[p - 2]),
               inner = static_cast<std::size_t>(a.shape[p - 1]),
               columns = static_cast<std::size_t>(b.shape[q - 1]);
    const auto leading = [](const extents& e) { return extents(e.begin(), e.end() - 2); };
    const extents batch = leading(r.shape);
    const std::int64_t count = product(batch);
    for (std::int64_t at = 0; at < count; ++at) {
      const std::size_t x0 = broadcast_index(at, batch, leading(a.shape)) * rows * inner,
                        y0 = broadcast_index(at, batch, leading(b.shape)) * inner * columns;
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
          long double s = 0;
          std::uint64_t whole = 0;
          for (std::size_t k = 0; k < inner; ++k) {
            const constant &x = a.data[x0 + i * inner + k], &y = b.data[y0 + k * columns + j];
            s += static_cast<long double>(x.f) * y.f;
            whole += static_cast<std::uint64_t>(x.i) * static_cast<std::uint64_t>(y.i);
          }
          r.data.push_back(is_floating(n.type)
                               ? narrowed_for(n.type, {static_cast<double>(s), 0})
                               : detail::narrowed(n.type, {0, static_cast<std::int64_t>(whole)}));
        }
    }
    require(static_cast<std::int64_t>(r.data.size()) == r.size(), "matmul: other extents");
    return r;
  }

  static tensor row(const tensor& x, std::int64_t i) {
    tensor r{x.type, {x.shape.begin() + 1, x.shape.end()}, {}};
    const std::int64_t n = r.size();
    r.data.assign(x.data.begin() + i * n, x.data.begin() + (i + 1) * n);
    return r;
  }

  graph_view g_;
  std::vector<tensor> arguments_;
  rounding rounding_;
  extents extents_;
};

}  // namespace calque::reference
