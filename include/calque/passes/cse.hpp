// Common subexpressions: equal nodes become one.
//
// Equal means the same operation, type, attributes, extents where they are the operation's
// specification, and inputs. Names and source lines are no part of a node. Effects, arguments,
// regions and what gradients refer to are never merged.
#pragma once

#include "calque/passes/rewriter.hpp"

namespace calque {
namespace detail {

class cse_pass {
 public:
  constexpr explicit cse_pass(const graph_view& g) : r_(g) {
    int buckets = 64;
    while (buckets < g.node_count) buckets *= 2;
    mask_ = static_cast<std::uint64_t>(buckets - 1);
    heads_.resize(buckets, -1);
    r_.run(*this);
  }

  constexpr void operator()(int id) {
    const node& n = r_.in.nodes[id];
    if (!mergeable(n.op->kind)) {
      r_.copy(id);
      return;
    }
    const auto bucket = static_cast<std::int32_t>(hash(id, n) & mask_);
    for (int e = heads_[bucket]; e >= 0; e = entries_[e].next)
      if (same(id, n, entries_[e].node)) {
        r_.replace(id, entries_[e].node);
        return;
      }
    heads_[bucket] = entries_.push({r_.copy(id), bucket, heads_[bucket]});
  }
  /// The entries of a region go when it ends: they are the newest of their buckets.
  constexpr bool enters(int) {
    marks_.push(entries_.size());
    return true;
  }
  constexpr void leaves(int) {
    for (int e = entries_.size() - 1; e >= marks_.back(); --e)
      heads_[entries_[e].bucket] = entries_[e].next;
    entries_.resize(marks_.back());
    marks_.pop();
  }
  constexpr graph finish() { return r_.finish(); }

 private:
  struct entry {
    std::int32_t node, bucket, next;  // node of the new graph; next entry of the bucket
  };

  static constexpr bool mergeable(op_kind k) {
    switch (k) {
      case op_kind::input:
      case op_kind::scalar:
      case op_kind::variable:
      case op_kind::assign:
      case op_kind::cond:
      case op_kind::loop:
      case op_kind::entry:
      case op_kind::region_arg:
      case op_kind::marker:
      case op_kind::gradient: return false;
      default: return true;
    }
  }
  static constexpr bool specified_by_extents(op_kind k) {
    return k == op_kind::reshape || k == op_kind::broadcast_to || k == op_kind::sum_to ||
           k == op_kind::iota || k == op_kind::random || k == op_kind::slice ||
           k == op_kind::windows;
  }
  constexpr int attribute(const node& n) const {
    return n.op->kind == op_kind::extent ? r_.in.canonical(n.index) : n.index;
  }
  constexpr std::uint64_t hash(int id, const node& n) const {
    std::uint64_t h = n.op->key ^ static_cast<std::uint64_t>(n.type) << 56;
    const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 1099511628211u; };
    for (int k = 0; k < n.inputs; ++k) mix(static_cast<std::uint64_t>(r_.input(id, k)));
    switch (n.op->kind) {
      case op_kind::map: break;
      case op_kind::constant:
        mix(__builtin_bit_cast(std::uint64_t, n.value.f));
        mix(static_cast<std::uint64_t>(n.value.i));
        break;
      case op_kind::transpose:
        for (int i = 0; i < n.rank; ++i) mix(static_cast<std::uint64_t>(n.perm[i]));
        break;
      default:
        mix(n.axis_mask);
        mix(static_cast<std::uint64_t>(attribute(n)));
        if (specified_by_extents(n.op->kind))
          for (int i = 0; i < n.rank; ++i)
            mix(static_cast<std::uint64_t>(r_.in.canonical(n.dims[i])));
    }
    return h ^ h >> 32;
  }
  constexpr bool same(int id, const node& n, int made) const {
    const node& m = r_.out.at(made);
    if (m.op->key != n.op->key || m.op->kind != n.op->kind || m.type != n.type ||
        m.rank != n.rank || m.inputs != n.inputs ||
        (m.device != n.device && n.op->kind != op_kind::constant))
      return false;
    for (int k = 0; k < n.inputs; ++k)
      if (r_.out.input(made, k) != r_.input(id, k)) return false;
    if (n.op->kind == op_kind::map) return true;
    if (m.reverse != n.reverse || m.exclusive != n.exclusive) return false;
    if (m.axis_mask != n.axis_mask || attribute(m) != attribute(n) ||
        !constant::identical(m.value, n.value))
      return false;
    if (n.op->kind == op_kind::transpose)
      for (int i = 0; i < n.rank; ++i)
        if (m.perm[i] != n.perm[i]) return false;
    return !specified_by_extents(n.op->kind) || r_.in.same_extents(m, n);
  }

  rewriter r_;
  std::uint64_t mask_ = 0;
  list<std::int32_t> heads_;  // by hash: the newest entry
  list<entry> entries_;
  list<std::int32_t> marks_;  // number of entries where each open region began
};

}  // namespace detail

/// The graph with equal nodes merged. A node merges with one of its own or an enclosing region; the
/// earlier one stays and keeps its name.
[[nodiscard]] constexpr graph cse(const graph_view& g) { return detail::cse_pass(g).finish(); }

}  // namespace calque
