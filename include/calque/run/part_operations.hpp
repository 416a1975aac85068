// The interpreter's operations on parts of values: slices, insertions, indexing, windows.
//
// Separate from tensor_operations.hpp, whose rules of values and extents they use, for its length.
#pragma once

#include "calque/backend/cpu/gather.hpp"
#include "calque/run/line_operations.hpp"

namespace calque::reference {

class part_operations : public line_operations {
 protected:
  using line_operations::line_operations;

  /// Calls `f(element of the part, element of the whole)` for the elements that ranges keep.
  template <class F>
  void for_each_kept(const node& n, const extents& whole, const extents& part, F f) const {
    const std::int64_t count = product(part);
    for (std::int64_t at = 0; at < count; ++at) {
      std::int64_t from = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        const auto r = range_of(n.index + static_cast<int>(i), whole[i]);
        from += (r.first + at / stride(part, i) % part[i] * r.step) * stride(whole, i);
      }
      f(static_cast<std::size_t>(at), static_cast<std::size_t>(from));
    }
  }
  void require_ranges(const node& n, const extents& whole, const extents& part) const {
    for (std::size_t i = 0; i < part.size(); ++i)
      require(range_of(n.index + static_cast<int>(i), whole[i]).count == part[i],
              "ranges keep other extents");
  }
  tensor slice(const node& n, const tensor& x) const {
    tensor r{n.type, extents_of(n), {}};
    require_ranges(n, x.shape, r.shape);
    for_each_kept(n, x.shape, r.shape, [&](auto, auto from) { r.data.push_back(x.data[from]); });
    return r;
  }
  tensor insert(const node& n, const tensor& x, const tensor& part) const {
    tensor r = x;
    require_ranges(n, x.shape, part.shape);
    for_each_kept(n, x.shape, part.shape, [&](auto at, auto to) { r.data[to] = part.data[at]; });
    return r;
  }
  tensor concatenate(const node& n, const std::vector<const tensor*>& parts) const {
    tensor r{n.type, extents_of(n), {}};
    const auto axis = static_cast<std::size_t>(n.index);
    std::int64_t outer = 1, along = 0;
    for (std::size_t i = 0; i < axis; ++i) outer *= r.shape[i];
    for (const tensor* p : parts) {
      along += p->shape[axis];
      for (std::size_t i = 0; i < r.shape.size(); ++i)
        require(i == axis || p->shape[i] == r.shape[i], "concatenate: extents differ");
    }
    require(along == r.shape[axis], "concatenate: parts of another length");
    for (std::int64_t i = 0; i < outer; ++i)
      for (const tensor* p : parts) {
        const std::int64_t n_each = product(p->shape, axis);
        r.data.insert(r.data.end(), p->data.begin() + i * n_each,
                      p->data.begin() + (i + 1) * n_each);
      }
    return r;
  }
  /// Calls `f(element of the part, element of the whole)` for what indices along an axis name.
  template <class F>
  static void for_each_index(const node& n, const extents& whole, const tensor& at, F f) {
    const auto axis = static_cast<std::size_t>(n.index);
    const std::int64_t inner = product(whole, axis + 1), extent = whole[axis], m = at.size();
    std::int64_t outer = 1, part = 0;
    for (std::size_t i = 0; i < axis; ++i) outer *= whole[i];
    for (std::int64_t k = 0; k < m; ++k) {
      const std::int64_t i = at.data[static_cast<std::size_t>(k)].i;
      if (i < 0 || i >= extent) detail::throw_index(n.op->name, i, extent, n.index);
    }
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < m; ++k)
        for (std::int64_t e = 0; e < inner; ++e) {
          const std::int64_t i = at.data[static_cast<std::size_t>(k)].i;
          f(static_cast<std::size_t>(part++),
            static_cast<std::size_t>((o * extent + i) * inner + e));
        }
  }
  tensor take(const node& n, const tensor& x, const tensor& at) const {
    tensor r{n.type, extents_of(n), {}};
    for_each_index(n, x.shape, at, [&](auto, auto from) { r.data.push_back(x.data[from]); });
    require(static_cast<std::int64_t>(r.data.size()) == r.size(), "take: other extents");
    return r;
  }
  tensor scatter_add(const node& n, const tensor& x, const tensor& at, const tensor& u) const {
    tensor r = x;
    for_each_index(n, x.shape, at, [&](auto from, auto to) {
      const constant sum[] = {r.data[to], u.data[from]};
      r.data[to] = call(op_info_of<op::add>, n.type, n.type, sum);
    });
    return r;
  }
  /// Calls `f(element of the windows, element of the whole)`.
  template <class F>
  void for_each_window(const node& n, const extents& whole, const extents& part, F f) const {
    const std::size_t lead = whole.size() - 2;
    const std::int64_t count = product(part), plane = whole[lead] * whole[lead + 1];
    for (std::int64_t at = 0; at < count; ++at) {
      const auto index = [&](std::size_t i) { return at / stride(part, i) % part[i]; };
      const std::int64_t outer = at / product(part, lead);
      std::int64_t from[2];
      for (std::size_t i = 0; i < 2; ++i)
        from[i] = index(lead + i) * extent(g_.dims[n.index + static_cast<int>(i)].b) +
                  index(lead + 2 + i);
      f(static_cast<std::size_t>(at),
        static_cast<std::size_t>(outer * plane + from[0] * whole[lead + 1] + from[1]));
    }
  }
  tensor windows(const node& n, const tensor& x) const {
    tensor r{n.type, extents_of(n), {}};
    for_each_window(n, x.shape, r.shape, [&](auto, auto from) { r.data.push_back(x.data[from]); });
    return r;
  }
  tensor overlap_add(const node& n, const tensor& x, const tensor& part) const {
    tensor r = x;
    for_each_window(n, x.shape, part.shape, [&](auto from, auto to) {
      const constant sum[] = {r.data[to], part.data[from]};
      r.data[to] = call(op_info_of<op::add>, n.type, n.type, sum);
    });
    return r;
  }
};

}  // namespace calque::reference
