// The usual call on its short way to a plan: dense arrays, and results apart from what is read.
//
// But for extents, all that its key says is known when the signature is compiled, so the words are
// written and hashed without a loop. They are those of `plan_key` for the same call: one table
// serves both. What is not usual (strides, overlap, a variable without a value) takes the way
// through `request_frame`, as a plan that is not there yet does. Called by traced.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "calque/call/request_frame.hpp"
#include "calque/call/signature.hpp"
#include "calque/plan/key.hpp"
#include "calque/run/plan.hpp"

namespace calque::detail {

/// What the graph of signature `S` says about the keys of its calls.
template <class S, bool Into>
struct key_shape {
  int leaves = S::leaf_count, results = 0, leaf_words = 0, words = 0, variables = 0;
  bool assigns = false, asks = false;  // asks: for devices by name

  static constexpr key_shape make() {
    const graph_view g = S::final::view();
    key_shape s;
    s.results = g.result_count();
    for (int i = 0; i < s.leaves; ++i) {
      s.leaf_words += g.arguments[i].rank;
      s.variables += g.arguments[i].kind == argument_kind::variable ? 1 : 0;
      s.asks |= g.arguments[i].kind == argument_kind::device;
    }
    s.words = 1 + s.leaf_words;
    for (int k = 0; Into && k < s.results; ++k) s.words += g.nodes[g.result(k)].rank;
    for (int id = 0; id < g.node_count; ++id) {
      s.assigns |= g.kind(id) == op_kind::assign;
      s.asks |= g.nodes[id].device >= 0;
    }
    return s;
  }
  /// Bit 0: the results have destinations; then a bit for each leaf and destination: row-major.
  [[nodiscard]] constexpr std::int64_t flags() const {
    const int dense = leaves + (Into ? results : 0);
    return static_cast<std::int64_t>((((std::uint64_t{1} << dense) - 1) << 1) | (Into ? 1 : 0));
  }
};

/// One call of signature `S`, to which destinations (where there are any) and then the arguments
/// are told. Refers to them.
template <class S, bool Into>
class usual_call {
  static constexpr auto shape = key_shape<S, Into>::make();

 public:
  /// Whether calls of this signature can be usual: keys that need no look at variables, and sizes
  /// for which code without loops is short.
  static constexpr bool possible = shape.variables <= 1 && !shape.assigns && !shape.asks &&
                                   1 + shape.leaves + shape.results < 64 && shape.words <= 64 &&
                                   (!Into || shape.leaves * shape.results <= 64) &&
                                   shape.leaves + shape.results + 3 <= slots_on_stack;

  usual_call() : usual_(current_device().is_usual()) { words_[0] = shape.flags(); }

  /// The next destination, detached.
  template <class T, int R>
  CALQUE_INLINE void destination(const array<T, R>& a, T* data) {
    const reach r = dense<R, sizeof(T)>(array_access::extents(a), array_access::strides(a), data,
                                        1 + shape.leaf_words + out_words_);
    apart_from_outs(r);
    usual_ &= array_access::place(a) == nullptr;
    reached_[outs_] = r;
    out_words_ += R;
    result(outs_++, data);
  }
  template <class... A>
  CALQUE_INLINE void arguments(const A&... args) {
    (for_each_leaf(args, [this](const auto& x) { this->add(x); }), ...);
  }
  /// Where result `k` goes.
  CALQUE_INLINE void result(int k, void* data) { slots_[shape.leaves + k] = data; }

  /// Whether the key is complete; else `plan_key` has to look.
  [[nodiscard]] bool usual() const { return usual_; }
  [[nodiscard]] CALQUE_INLINE planning::key_view key() const {
    constexpr auto count = static_cast<std::size_t>(shape.words);
    planning::key_hash h(count);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (h.add(I, words_[I]), ...);
    }(std::make_index_sequence<count>{});
    return {words_, count, h.value()};
  }
  /// The slots of leaves and results for `replay_use`.
  [[nodiscard]] void** slots() { return slots_; }
  static constexpr int slot_count = shape.leaves + shape.results;

 private:
  using reach = planning::reach;

  template <class T, int R>
  CALQUE_INLINE void add(const array<T, R>& a) {
    usual_ &= array_access::place(a) == nullptr;
    block<R, sizeof(T)>(array_access::extents(a), array_access::strides(a), array_access::data(a));
  }
  template <class T>
  CALQUE_INLINE void add(const std::vector<T>& v) {
    add(std::span<const T>(v));
  }
  template <class T>
  CALQUE_INLINE void add(const std::span<T>& v) {
    const auto n = static_cast<std::int64_t>(v.size());
    const std::int64_t one = 1;
    block<1, sizeof(T)>(&n, &one, v.data());
  }
  template <class T, int R>
  CALQUE_INLINE void add(const variable<T, R>& v) {
    const variable_state<T, R>& s = variable_access::state(v);
    usual_ &= s.initialised;
    add(s.value);
  }
  template <scalar_literal T>
  CALQUE_INLINE void add(const T& v) {
    const auto u = static_cast<scalar_element<T>>(v);
    std::memcpy(&scalars_[leaf_], &u, sizeof(u));
    slots_[leaf_] = &scalars_[leaf_];
    ++leaf_;
  }
  template <int R>
  CALQUE_INLINE void add(const calque::shape<R>& s) {
    copy_extents<R>(s.begin(), 1 + words_of_leaves_);
    words_of_leaves_ += R;
    slots_[leaf_++] = nullptr;
  }
  CALQUE_INLINE void add(const device&) { slots_[leaf_++] = nullptr; }
  template <auto V>
  CALQUE_INLINE void add(const static_t<V>&) {}

  template <int R, std::size_t Bytes>
  CALQUE_INLINE void block(const std::int64_t* extents, const std::int64_t* strides,
                           const void* data) {
    apart_from_outs(dense<R, Bytes>(extents, strides, data, 1 + words_of_leaves_));
    words_of_leaves_ += R;
    slots_[leaf_++] = const_cast<void*>(data);
  }
  template <int R>
  CALQUE_INLINE void copy_extents(const std::int64_t* extents, int at) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((words_[at + I] = extents[I]), ...);
    }(std::make_integer_sequence<int, R>{});
  }
  /// Writes the extents' words; the bytes that the block reaches if it is row-major.
  template <int R, std::size_t Bytes>
  CALQUE_INLINE reach dense(const std::int64_t* extents, const std::int64_t* strides,
                            const void* data, int at) {
    copy_extents<R>(extents, at);
    std::uint64_t n = 1;
    bool same = true;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((same &= extents[R - 1 - I] == 1 || static_cast<std::uint64_t>(strides[R - 1 - I]) == n,
        n *= static_cast<std::uint64_t>(extents[R - 1 - I])),
       ...);
    }(std::make_integer_sequence<int, R>{});
    usual_ &= same || n == 0;
    const auto low = reinterpret_cast<std::uintptr_t>(data);
    return {low, low + static_cast<std::uintptr_t>(n * Bytes)};
  }
  /// Blocks whose bytes meet may still take turns: `plan_key` knows.
  CALQUE_INLINE void apart_from_outs(const reach& r) {
    for (int k = 0; k < outs_; ++k) usual_ &= !r.meets(reached_[k]);
  }

  bool usual_;
  int leaf_ = 0, words_of_leaves_ = 0, outs_ = 0, out_words_ = 0;
  std::int64_t words_[shape.words];
  std::int64_t scalars_[shape.leaves + 1];
  reach reached_[(Into ? shape.results : 0) + 1];
  void* slots_[slots_on_stack];
};

}  // namespace calque::detail
