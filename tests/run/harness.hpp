// Builds graphs at run time and calls their plans, with results as vectors of double.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "calque/backend/interpret.hpp"
#include "calque/run/plan_cache.hpp"

namespace harness {

using calque::argument_kind;
using calque::dtype;
using extents = std::vector<std::int64_t>;
using numbers = std::vector<double>;

inline std::int64_t product(const extents& e) {
  std::int64_t n = 1;
  for (std::int64_t x : e) n *= x;
  return n;
}

/// A builder with short names for what tests need.
struct maker : calque::builder {
  int leaf(argument_kind kind, dtype t, int rank) {
    const int number = g.arguments.size();
    calque::node n;
    n.op = kind == argument_kind::array    ? &calque::op_info_of<calque::op::input>
           : kind == argument_kind::scalar ? &calque::op_info_of<calque::op::scalar>
                                           : &calque::op_info_of<calque::op::variable>;
    n.type = t;
    n.rank = static_cast<std::uint8_t>(rank);
    for (int i = 0; i < rank; ++i) n.dims[i] = argument_dim(number, i);
    n.index = number;
    const int id = append_with(n);
    g.arguments.push({kind, t, rank, id});
    if (kind == argument_kind::variable) declare_variable(id);
    return id;
  }
  int array(int rank, dtype t = dtype::float32) { return leaf(argument_kind::array, t, rank); }
  int scalar(dtype t = dtype::float32) { return leaf(argument_kind::scalar, t, 0); }
  int variable(int rank, dtype t = dtype::float32) {
    return leaf(argument_kind::variable, t, rank);
  }
  template <class Op, class... I>
  int map(int first, I... rest) {
    const int a = value_of(first);
    return map_of<Op>(at(a).type, a, rest...);
  }
  int add(int a, int b) { return map<calque::op::add>(a, b); }
  int sub(int a, int b) { return map<calque::op::sub>(a, b); }
  int mul(int a, int b) { return map<calque::op::mul>(a, b); }
  int times(int a, double f) { return mul(a, number(at(a).type, f)); }
  int plus(int a, double f) { return add(a, number(at(a).type, f)); }
  int less(int a, int b) { return map_of<calque::op::less>(dtype::boolean, a, b); }
  int transpose(int a) {
    const std::int8_t swap[] = {1, 0};
    return calque::op::transpose::build(*this, a, swap);
  }
  int reshape(int a, const extents& e) {
    std::int32_t dims[calque::max_rank]{};
    for (std::size_t i = 0; i < e.size(); ++i) dims[i] = literal_dim(e[i]);
    return calque::op::reshape::build(*this, a, static_cast<int>(e.size()), dims);
  }
  int broadcast(int a, const extents& e) {
    std::int32_t dims[calque::max_rank]{};
    for (std::size_t i = 0; i < e.size(); ++i) dims[i] = literal_dim(e[i]);
    return calque::op::broadcast_to::build(*this, a, static_cast<int>(e.size()), dims);
  }
  int sum_to(int a, int like) {
    const calque::node n = at(like);
    return calque::op::sum_to::build(*this, a, n.rank, n.dims);
  }
  int sum(int a, unsigned mask, bool keep = false) {
    a = value_of(a);
    return calque::detail::build_reduction<calque::op::sum>(*this, a, mask, keep,
                                                            calque::sum_type(at(a).type));
  }
  int max(int a, unsigned mask) {
    return calque::detail::build_reduction<calque::op::reduce_max>(*this, a, mask, false,
                                                                   at(value_of(a)).type);
  }
  int argmax(int a, int axis) {
    return calque::detail::build_reduction<calque::op::argmax>(*this, a, 1u << axis, false,
                                                               dtype::int64);
  }
  int matmul(int a, int b) { return calque::op::matmul::build(*this, a, b); }
  int count(std::int64_t n) { return constant_of(dtype::int64, {0, n}); }

  /// `then()` and `otherwise()` return the branches' results.
  template <class F, class G>
  std::vector<int> cond(int p, F then, G otherwise) {
    const int predicate = value_of(p);
    const auto region = [&](auto& f, std::vector<int>& out) {
      const int r = begin_region(false);
      out = f();
      std::vector<std::int32_t> ids;
      for (int& i : out) ids.push_back(i = value_of(i));
      end_region(ids.data(), static_cast<int>(ids.size()));
      return r;
    };
    std::vector<int> a, b, results;
    const int r0 = region(then, a), r1 = region(otherwise, b);
    const int owner = append_with(make<calque::op::cond>(dtype::none), predicate);
    own(owner, r0, r1);
    for (std::size_t k = 0; k < a.size(); ++k)
      results.push_back(result_of(owner, static_cast<int>(k), at(a[k])));
    return results;
  }
  struct step_result {
    std::vector<int> states, stacked;
  };
  /// `body(i, states, slices)` returns the next states and what is stacked.
  template <class F>
  std::vector<int> loop(int trips, std::vector<int> init, std::vector<int> xs, F body,
                        bool reverse = false) {
    std::vector<std::int32_t> inputs{trips};
    for (int i : init) inputs.push_back(value_of(i));
    for (int x : xs) inputs.push_back(value_of(x));
    const int r = begin_region(true);
    const int index = region_argument(make<calque::op::region_arg>(dtype::int64));
    std::vector<int> states, slices;
    for (std::size_t k = 0; k < init.size(); ++k)
      states.push_back(region_argument(at(inputs[1 + k])));
    for (std::size_t k = 0; k < xs.size(); ++k) {
      calque::node like = at(inputs[1 + init.size() + k]);
      --like.rank;
      for (int i = 0; i < like.rank; ++i) like.dims[i] = like.dims[i + 1];
      slices.push_back(region_argument(like));
    }
    step_result out = body(index, states, slices);
    std::vector<std::int32_t> ids;
    for (int i : out.states) ids.push_back(value_of(i));
    for (int i : out.stacked) ids.push_back(value_of(i));
    end_region(ids.data(), static_cast<int>(ids.size()));
    calque::node n = make<calque::op::loop>(dtype::none);
    n.index = static_cast<std::int32_t>(init.size());
    n.reverse = reverse;
    const int owner = append(n, inputs.data(), static_cast<int>(inputs.size()));
    own(owner, r, -1);
    std::vector<int> results;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      calque::node like = at(ids[k]);
      if (k >= init.size()) {
        for (int i = like.rank; i > 0; --i) like.dims[i] = like.dims[i - 1];
        const calque::node& t = at(trips);
        like.dims[0] = t.op->kind == calque::op_kind::extent ? t.index : literal_dim(t.value.i);
        ++like.rank;
      }
      results.push_back(result_of(owner, static_cast<int>(k), like));
    }
    return results;
  }
  calque::graph done(const std::vector<int>& results) {
    std::vector<std::int32_t> ids;
    for (int r : results) ids.push_back(value_of(r));
    return finish(ids.data(), static_cast<int>(ids.size()));
  }
};

/// Memory of any type and layout whose elements are set and read as double.
struct block {
  dtype type = dtype::float32;
  extents shape, strides;  // strides empty: row-major
  std::vector<std::uint64_t> bytes;
  void* base = nullptr;  // own bytes, or somebody's

  void* data() { return base ? base : bytes.data(); }
  const std::int64_t* stride_list() const { return strides.empty() ? nullptr : strides.data(); }
  std::int64_t at(std::int64_t n) const {  // element index of the n-th in row-major order
    std::int64_t offset = 0, dense = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const std::int64_t k = n % shape[i];
      n /= shape[i];
      offset += k * (strides.empty() ? dense : strides[i]);
      dense *= shape[i];
    }
    return offset;
  }
  void set(const numbers& v) {
    namespace in = calque::detail::interpreting;
    for (std::size_t n = 0; n < v.size(); ++n)
      in::save(type, data(), at(static_cast<std::int64_t>(n)),
               {v[n], static_cast<std::int64_t>(v[n])});
  }
  numbers get() {
    numbers v;
    for (std::int64_t n = 0; n < product(shape); ++n) {
      const calque::constant c = calque::detail::interpreting::load(type, data(), at(n));
      v.push_back(calque::is_floating(type) ? c.f : static_cast<double>(c.i));
    }
    return v;
  }
};

/// A graph with its kernels and cache.
struct program {
  calque::graph g;
  calque::interpreted_kernels<> kernels;
  calque::plan_cache cache;

  explicit program(calque::graph made)
      : g(static_cast<calque::graph&&>(made)),
        kernels(g.view()),
        cache(g.view(), kernels.table()) {}
};

/// The leaves of one call.
struct call {
  std::list<block> blocks;
  std::vector<calque::leaf> leaves;
  std::list<block> results;

  block& add(argument_kind kind, dtype t, extents shape, const numbers& v, extents strides = {},
             void* base = nullptr) {
    block& b = blocks.emplace_back();
    b.type = t, b.shape = shape, b.strides = strides, b.base = base;
    std::int64_t need = product(shape);
    if (!strides.empty() && need > 0) {
      need = 1;
      for (std::size_t i = 0; i < shape.size(); ++i) need += (shape[i] - 1) * strides[i];
    }
    b.bytes.assign(static_cast<std::size_t>(need + 1), 0x7F7F7F7F7F7F7F7F);
    if (base == nullptr || !v.empty()) b.set(v);
    leaves.push_back({.kind = kind,
                      .type = t,
                      .rank = static_cast<int>(shape.size()),
                      .extents = b.shape.data(),
                      .strides = b.stride_list(),
                      .data = b.data(),
                      .identity = kind == argument_kind::variable ? &b : nullptr});
    return b;
  }
  block& array(extents shape, const numbers& v, dtype t = dtype::float32, extents strides = {}) {
    return add(argument_kind::array, t, shape, v, strides);
  }
  block& scalar(double v, dtype t = dtype::float32) {
    return add(argument_kind::scalar, t, {}, {v});
  }
  block& variable(extents shape, const numbers& v, const char* name = nullptr,
                  dtype t = dtype::float32) {
    block& b = add(argument_kind::variable, t, shape, v);
    leaves.back().name = name;
    return b;
  }
  [[nodiscard]] calque::call_request request(
      const std::vector<calque::output>* out = nullptr) const {
    return {leaves.data(), static_cast<int>(leaves.size()), out ? out->data() : nullptr,
            out ? static_cast<int>(out->size()) : 0};
  }
  /// Fresh results.
  std::vector<numbers> run(program& p) {
    const calque::plan_lease plan = p.cache.find(request());
    std::vector<void*> to;
    results.clear();
    for (int k = 0; k < plan->result_count(); ++k) {
      block& b = results.emplace_back();
      b.type = plan->result_type(k);
      b.shape.assign(plan->result_extents(k), plan->result_extents(k) + plan->result_rank(k));
      b.bytes.assign(static_cast<std::size_t>(product(b.shape) + 1), 0x7F7F7F7F7F7F7F7F);
      to.push_back(b.data());
    }
    calque::replay(*plan, leaves.data(), to.data());
    std::vector<numbers> out;
    for (block& b : results) out.push_back(b.get());
    return out;
  }
  /// Results into given blocks.
  void into(program& p, const std::vector<block*>& to) {
    std::vector<calque::output> outs;
    std::vector<void*> data;
    for (block* b : to) {
      outs.push_back({b->shape.data(), b->stride_list(), b->data()});
      data.push_back(b->data());
    }
    const calque::plan_lease plan = p.cache.find(request(&outs));
    calque::replay(*plan, leaves.data(), data.data());
  }
};

inline block make_block(extents shape, const numbers& v, dtype t = dtype::float32,
                        extents strides = {}, void* base = nullptr) {
  block b;
  b.type = t, b.shape = shape, b.strides = strides, b.base = base;
  std::int64_t need = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    need = strides.empty() ? need * shape[i] : need + (shape[i] - 1) * strides[i];
  b.bytes.assign(static_cast<std::size_t>(need + 1), 0x7F7F7F7F7F7F7F7F);
  if (base == nullptr) b.set(v);
  return b;
}

inline numbers iota(std::int64_t n, double from = 1) {
  numbers v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(from + static_cast<double>(i));
  return v;
}

}  // namespace harness
