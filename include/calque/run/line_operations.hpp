// Operations of the interpreter on lines along one axis: running reductions, sorting; reductions
// that keep the elements' order; random numbers. Apart from run/tensor_operations.hpp for its
// length.
#pragma once

#include "calque/core/philox.hpp"
#include "calque/ops/accumulate.hpp"
#include "calque/run/tensor_operations.hpp"

namespace calque::reference {

class line_operations : public tensor_operations {
 protected:
  using tensor_operations::tensor_operations;

  /// A user's monoid over groups of elements, in order.
  tensor ordered_reduce(const node& n, const tensor& x) const {
    tensor r{n.type, extents_of(n), {}};
    for (const auto& group : groups(x, n.axis_mask)) {
      constant sum = n.op->evaluate(x.type, n.type, nullptr);
      for (std::size_t k = 0; k < group.size(); ++k) {
        const constant pair[] = {sum, x.data[group[k]]};
        sum = k == 0 ? pair[1] : n.op->evaluate(x.type, n.type, pair);
      }
      r.data.push_back(sum);
    }
    return r;
  }
  /// The elements of each line along the axis of `n`, in the direction of `n`.
  static std::vector<std::vector<std::size_t>> lines(const node& n, const tensor& x) {
    auto all = groups(x, n.axis_mask);
    if (n.reverse)
      for (auto& line : all) std::reverse(line.begin(), line.end());
    return all;
  }
  tensor accumulate(const node& n, const tensor& x) const {
    tensor r{n.type, x.shape, std::vector<constant>(x.data.size())};
    const bool sums = std::string_view(n.op->name) == "cumsum", floats = is_floating(n.type);
    for (const auto& line : lines(n, x)) {
      constant sum = n.op->evaluate(n.type, n.type, nullptr);
      long double exact = 0;  // sums of floats as exact as can be
      bool first = true;
      for (std::size_t i : line) {
        if (n.exclusive) r.data[i] = sum;
        const constant pair[] = {sum, x.data[i]};
        exact += static_cast<long double>(x.data[i].f);
        if (sums && floats) sum = narrowed_for(n.type, {static_cast<double>(exact), 0});
        else sum = first ? pair[1] : call(*n.op, n.type, n.type, pair);
        if (!n.exclusive) r.data[i] = sum;
        first = false;
      }
    }
    return r;
  }
  /// Stable; NaN last both ways.
  tensor sort(const node& n, const tensor& x, bool down, bool places) const {
    tensor r{n.type, x.shape, std::vector<constant>(x.data.size())};
    const auto before = [&](std::size_t i, std::size_t k) {
      const constant &a = x.data[down ? k : i], &b = x.data[down ? i : k];
      if (!is_floating(x.type))
        return x.type == dtype::uint64
                   ? static_cast<std::uint64_t>(a.i) < static_cast<std::uint64_t>(b.i)
                   : a.i < b.i;
      if (x.data[i].f != x.data[i].f) return false;
      return x.data[k].f != x.data[k].f || a.f < b.f;
    };
    for (const auto& line : lines(n, x)) {
      std::vector<std::size_t> order(line.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t i, std::size_t k) { return before(line[i], line[k]); });
      for (std::size_t i = 0; i < order.size(); ++i)
        r.data[line[i]] =
            places ? constant{0, static_cast<std::int64_t>(order[i])} : x.data[line[order[i]]];
    }
    return r;
  }
  tensor move_along(const node& n, const tensor& x, const tensor& places, bool put) const {
    tensor r{n.type, x.shape, std::vector<constant>(x.data.size())};
    for (const auto& line : lines(n, x))
      for (std::size_t i : line) {
        const std::size_t other = line[static_cast<std::size_t>(places.data[i].i)];
        r.data[put ? other : i] = x.data[put ? i : other];
      }
    return r;
  }
  tensor along_axis(const node& n, const tensor& x, const tensor* places) const {
    const std::string_view name = n.op->name;
    if (places) return move_along(n, x, *places, name == "put_places");
    if (name.starts_with("sort")) return sort(n, x, name != "sort", false);
    if (name.starts_with("argsort")) return sort(n, x, name != "argsort", true);
    return accumulate(n, x);
  }
  tensor random(const node& n, const tensor& state) const {
    tensor r{n.type, extents_of(n), {}};
    const auto seed = static_cast<std::uint64_t>(state.data[0].i),
               draw = static_cast<std::uint64_t>(state.data[1].i);
    const bool normal = std::string_view(n.op->name) == "normal", wide = size_of(n.type) == 8;
    const std::int64_t count = r.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto [block, part] = detail::philox_place_of(i, size_of(n.type));
      const detail::philox_block w = detail::philox_at(seed, draw, block);
      const auto unit = [&](int k, int shift) {
        const std::uint64_t both = std::uint64_t{w.word[(2 * k + 1) % 4]} << 32 | w.word[2 * k % 4];
        return wide ? static_cast<double>(both << shift >> 12) * 0x1p-52
                    : static_cast<double>(detail::unit_float(w.word[k] << shift));
      };
      double v = wide || !normal ? unit(part, 0) : 0;
      if (normal) {
        const int a = wide ? 0 : part / 2 * 2,
                  quadrant = static_cast<int>(w.word[wide ? 3 : a + 1] >> 30);
        const double angle = (unit(a + 1, 2) - 0.5 + quadrant) * 1.57079632679489661923;
        v = std::sqrt(-2 * std::log(1 - unit(a, 0))) *
            (part % 2 == 0 ? std::cos(angle) : std::sin(angle));
      }
      r.data.push_back(narrowed_for(n.type, {v, 0}));
    }
    return r;
  }
};

}  // namespace calque::reference
