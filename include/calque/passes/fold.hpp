// Constant folding and identities that change no bit of any result.
//
// A node stands for another only where type and extents are proven equal, so `x * 1` with x smaller
// than the product is left alone. Not among the rules: x*0, x-x, x/x, log(exp x), reassociation;
// each of them is wrong for some infinity, NaN, zero or overflow.
#pragma once

#include <limits>

#include "calque/ops/views.hpp"
#include "calque/passes/rewriter.hpp"

namespace calque {

/// The rules of `fold`, in the order of `fold_counts`.
enum class fold_rule : std::uint8_t {
  evaluate,           // an operation on constants
  extent,             // the value of an extent that is a literal
  multiply_by_one,    // x*1, 1*x, x/1
  add_zero,           // x-0; x+0 for integers, x+(-0.0) for floating types
  double_negation,    // -(-x)
  same_cast,          // to the type that x has
  compose_transpose,  // a transpose of a transpose
  no_transpose,       // axes stay where they are
  compose_reshape,    // a reshape of a reshape
  no_extent_change,   // reshape, broadcast_to, sum_to to the extents that x has
  known_choice,       // where(true, a, b)
  remove_marker,      // and stop_gradient, once no gradient is left to expand
  scalar_operand,     // a scalar that was broadcast, beside an operand of the result's extents
  hoist_scalar        // an operation on scalars that were broadcast
};
inline constexpr int fold_rules = 14;

/// How often each rule was applied.
struct fold_counts {
  std::int32_t of[fold_rules]{};
};

namespace detail {

/// Whether two products of extents are equal for every value of the symbols in them.
class extent_product {
 public:
  constexpr extent_product(const graph_view& g, const node& n) {
    for (int i = 0; i < n.rank; ++i) multiply(g, n.dims[i]);
  }
  friend constexpr bool operator==(const extent_product& a, const extent_product& b) {
    if (!a.known_ || !b.known_ || a.literal_ != b.literal_ || a.count_ != b.count_) return false;
    bool used[limit]{};
    for (int i = 0; i < a.count_; ++i) {
      int k = 0;
      while (k < b.count_ && (used[k] || b.factors_[k] != a.factors_[i])) ++k;
      if (k == b.count_) return false;
      used[k] = true;
    }
    return true;
  }

 private:
  static constexpr int limit = 4 * max_rank;

  constexpr void multiply(const graph_view& g, int first) {
    std::int32_t open[limit]{first};
    for (int size = 1; size > 0 && known_;) {
      const int d = g.canonical(open[--size]);
      const dim& e = g.dims[d];
      if (e.kind == dim_kind::literal) {
        // nvcc evaluates no __builtin_mul_overflow in a constant expression
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        known_ = e.value >= 0 && (literal_ == 0 || e.value <= most / literal_);
        if (known_) literal_ *= e.value;
      } else if (e.kind == dim_kind::mul && size + 2 <= limit) {
        open[size++] = e.a;
        open[size++] = e.b;
      } else if (count_ < limit) {
        factors_[count_++] = d;
      } else {
        known_ = false;
      }
    }
  }

  bool known_ = true;
  std::int64_t literal_ = 1;
  int count_ = 0;
  std::int32_t factors_[limit]{};
};

// The operations that identities are about, by name: passes know no functors.
inline constexpr std::uint64_t neg_key = hash_name("neg"), add_key = hash_name("add"),
                               sub_key = hash_name("sub"), mul_key = hash_name("mul"),
                               div_key = hash_name("div"), cast_key = hash_name("cast");

/// Floating operands that an operation can take in a constant expression: no overflow, no NaN.
constexpr bool is_moderate(dtype t, const constant& c) {
  if (!is_floating(t)) return true;
  const double most = t == dtype::float64 ? 0x1p500 : 0x1p60, x = c.f < 0 ? -c.f : c.f;
  return x == 0 || (x <= most && x >= 1 / most);
}

class fold_pass {
 public:
  constexpr fold_pass(const graph_view& g, fold_counts* counts) : r_(g), counts_(counts) {
    uniform_.reserve(g.node_count);
    for (int id = 0; id < g.node_count; ++id)
      if (g.kind(id) == op_kind::gradient) gradients_left_ = true;
    r_.run(*this);
  }

  constexpr void operator()(int id) {
    switch (r_.in.kind(id)) {
      case op_kind::extent: return extent(id);
      case op_kind::map: return map(id);
      case op_kind::transpose: return transpose(id);
      case op_kind::reshape: return reshape(id);
      case op_kind::broadcast_to:
      case op_kind::sum_to:
        if (!replace_if_equal(fold_rule::no_extent_change, id, r_.input(id, 0))) r_.copy(id);
        return;
      case op_kind::marker:
      case op_kind::stop_gradient:
        if (gradients_left_ || !replace_if_equal(fold_rule::remove_marker, id, r_.input(id, 0)))
          r_.copy(id);
        return;
      default: r_.copy(id);
    }
  }
  constexpr graph finish() { return r_.finish(); }

 private:
  constexpr void count(fold_rule r) {
    if (counts_) ++counts_->of[static_cast<int>(r)];
  }
  constexpr const node& made(int id) const { return r_.out.at(id); }

  constexpr bool replace_if_equal(fold_rule rule, int id, int by) {
    const node &n = r_.in.nodes[id], &m = made(by);
    if (m.type != n.type || !r_.in.same_extents(m, n)) return false;
    count(rule);
    r_.replace(id, by);
    return true;
  }
  constexpr void make_constant(fold_rule rule, int id, const constant& value) {
    count(rule);
    node n = r_.in.nodes[id];
    n.op = &op_info_of<op::constant>;
    n.index = -1;
    n.value = value;
    r_.to[id] = r_.out.append(n, nullptr, 0);
  }

  constexpr void extent(int id) {
    const dim& d = r_.in.dims[r_.in.canonical(r_.in.nodes[id].index)];
    if (d.kind == dim_kind::literal) make_constant(fold_rule::extent, id, {0, d.value});
    else r_.copy(id);
  }

  /// The constant that every element of a node equals; null if there is none. Answers are kept, so
  /// that a chain of views is walked once.
  constexpr const node* uniform(int id) {
    uniform_.resize(r_.out.g.nodes.size(), unknown);
    int from = id, found = none;
    while (true) {
      if (uniform_[from] != unknown) {
        found = uniform_[from];
        break;
      }
      const op_kind k = made(from).op->kind;
      if (k == op_kind::constant) found = from;
      if (k != op_kind::broadcast_to && k != op_kind::reshape && k != op_kind::transpose &&
          k != op_kind::slice && k != op_kind::windows)
        break;
      from = r_.out.input(from, 0);
    }
    for (int i = id;; i = r_.out.input(i, 0)) {
      uniform_[i] = found;
      if (i == from) break;
    }
    return found == none ? nullptr : &made(found);
  }
  constexpr bool is_uniform(int id, double f, std::int64_t i) {
    const node* c = uniform(id);
    return c &&
           constant::identical(c->value, is_floating(c->type) ? constant{f, 0} : constant{0, i});
  }

  constexpr void map(int id) {
    const node& n = r_.in.nodes[id];
    if (!evaluated(id, n) && !identity(id, n) && !on_scalars(id, n)) r_.copy(id);
  }
  /// The rank-0 node whose value every element of a node is, or -1.
  constexpr int scalar_of(int id) const {
    for (; made(id).rank > 0; id = r_.out.input(id, 0)) {
      const op_kind k = made(id).op->kind;
      if (k != op_kind::broadcast_to && k != op_kind::reshape) return none;
      if (k == op_kind::reshape &&
          (made(id).keepdims ||
           !(extent_product(r_.in, made(id)) == extent_product(r_.in, made(r_.out.input(id, 0))))))
        return none;  // its check would be lost
    }
    return id;
  }
  /// A broadcast scalar is read as a scalar, and what has no other operands is computed once.
  constexpr bool on_scalars(int id, const node& n) {
    if (n.rank == 0 || n.inputs > 3) return false;
    std::int32_t inputs[3]{};
    bool changed = false, whole = false, all = true;
    for (int k = 0; k < n.inputs; ++k) {
      const int in = r_.input(id, k), scalar = scalar_of(in);
      inputs[k] = scalar == none ? in : scalar;
      changed |= inputs[k] != in;
      all = all && scalar != none;
      whole |= scalar == none && r_.in.same_extents(made(in), n);
    }
    if (!changed || (!whole && !all)) return false;
    if (!all) {
      count(fold_rule::scalar_operand);
      r_.to[id] = r_.out.append(n, inputs, n.inputs);
      return true;
    }
    int one_element = 0;  // an extent of the graph: the pass makes none, since it compares by them
    while (one_element < r_.in.dim_count && !r_.in.is_literal(one_element, 1)) ++one_element;
    if (one_element == r_.in.dim_count) return false;
    count(fold_rule::hoist_scalar);
    node scalar = n;
    scalar.rank = 0;
    scalar.name = -1;
    std::int32_t ones[max_rank]{};
    for (int i = 0; i < n.rank; ++i) ones[i] = one_element;
    constant value{};
    int one = identical(scalar, inputs);
    if (one == none && evaluates(scalar, inputs, &value)) {
      count(fold_rule::evaluate);
      scalar.op = &op_info_of<op::constant>;
      scalar.index = -1;
      scalar.value = value;
      one = r_.out.append(scalar, nullptr, 0);
    } else if (one == none) {
      one = r_.out.append(scalar, inputs, n.inputs);
    }
    r_.replace(id, op::broadcast_to::build(r_.out, op::reshape::build(r_.out, one, n.rank, ones),
                                           n.rank, n.dims));
    return true;
  }

  constexpr bool evaluated(int id, const node& n) {
    std::int32_t inputs[3]{};
    if (n.inputs > 3) return false;
    for (int k = 0; k < n.inputs; ++k) inputs[k] = r_.input(id, k);
    constant value{};
    if (!evaluates(n, inputs, &value)) return false;
    make_constant(fold_rule::evaluate, id, value);
    return true;
  }
  /// The value of operation `n` on nodes that are constants.
  constexpr bool evaluates(const node& n, const std::int32_t* inputs, constant* value) const {
    if (!n.op->foldable || n.rank != 0 || n.inputs < 1) return false;
    constant operands[3]{};
    dtype in = dtype::none;
    for (int k = 0; k < n.inputs; ++k) {
      const node& m = made(inputs[k]);
      if (m.op->kind != op_kind::constant || size_of(m.type) == 0) return false;
      if (is_floating(m.type) && m.type != dtype::float32 && m.type != dtype::float64) return false;
      if (is_floating(n.type) && !is_moderate(n.type, m.value)) return false;
      operands[k] = m.value;
      in = m.type;  // a choice's operands follow its bool
    }
    if (n.type == dtype::float16 || n.type == dtype::bfloat16) return false;
    *value = n.op->evaluate(in, n.type, operands);
    return value->f == value->f;  // which NaN depends on the machine
  }

  constexpr bool identity(int id, const node& n) {
    std::int32_t inputs[3]{};
    for (int k = 0; k < n.inputs && k < 3; ++k) inputs[k] = r_.input(id, k);
    const int by = identical(n, inputs);
    if (by == none) return false;
    r_.replace(id, by);
    return true;
  }
  /// The node that operation `n` on `inputs` equals, or `none`.
  constexpr int identical(const node& n, const std::int32_t* inputs) {
    const auto key = n.op->key;
    const int a = inputs[0], b = n.inputs > 1 ? inputs[1] : none;
    const auto if_equal = [&](bool applies, fold_rule rule, int by, int ones = none) {
      if (!applies || made(by).type != n.type) return none;
      const bool equal = r_.in.same_extents(made(by), n);
      if (!equal && !is_broadcast(by, ones, n)) return none;
      count(rule);
      return std::int32_t{equal ? by : op::broadcast_to::build(r_.out, by, n.rank, n.dims)};
    };
    const auto either = [](std::int32_t x, auto&& y) { return x != none ? x : y(); };
    if (key == mul_key)
      return either(if_equal(is_uniform(b, 1, 1), fold_rule::multiply_by_one, a, b), [&] {
        return if_equal(is_uniform(a, 1, 1), fold_rule::multiply_by_one, b, a);
      });
    if (key == div_key) return if_equal(is_uniform(b, 1, 1), fold_rule::multiply_by_one, a);
    if (key == sub_key)  // -0.0 - 0.0 is -0.0, but -0.0 - -0.0 is 0.0
      return if_equal(is_uniform(b, 0.0, 0), fold_rule::add_zero, a);
    if (key == add_key) {
      const double zero = is_floating(n.type) ? -0.0 : 0.0;
      return either(if_equal(is_uniform(b, zero, 0), fold_rule::add_zero, a),
                    [&] { return if_equal(is_uniform(a, zero, 0), fold_rule::add_zero, b); });
    }
    if (key == neg_key)
      return made(a).op->key == key ? if_equal(true, fold_rule::double_negation, r_.out.input(a, 0))
                                    : none;
    if (key == cast_key) return if_equal(true, fold_rule::same_cast, a);
    if (n.op->form == map_form::select) {
      const node* p = uniform(a);
      if (p != nullptr)
        return if_equal(true, fold_rule::known_choice, p->value.i != 0 ? b : inputs[2]);
    }
    return none;
  }

  /// Whether what has no work left to do is a view of an argument: `x * ones` where the ones have
  /// all extents, as where a gradient begins. Computed values stay in their kernels instead.
  constexpr bool is_broadcast(int by, int ones, const node& n) const {
    return ones != none && made(by).op->kind == op_kind::input && n.rank > 0 &&
           r_.in.same_extents(made(ones), n);
  }

  constexpr void transpose(int id) {
    node n = r_.in.nodes[id];
    int from = r_.input(id, 0);
    if (made(from).op->kind == op_kind::transpose) {  // whose input is no transpose
      for (int i = 0; i < n.rank; ++i) n.perm[i] = made(from).perm[n.perm[i]];
      from = r_.out.input(from, 0);
      count(fold_rule::compose_transpose);
    }
    bool moves = false;
    for (int i = 0; i < n.rank; ++i) moves |= n.perm[i] != i;
    if (!moves && replace_if_equal(fold_rule::no_transpose, id, from)) return;
    const std::int32_t input = from;
    r_.to[id] = r_.out.append(n, &input, 1);
  }

  // The count that the inner reshape checks must be the outer one's or x's: no check is lost.
  constexpr void reshape(int id) {
    const node& n = r_.in.nodes[id];
    std::int32_t from = r_.input(id, 0);
    while (made(from).op->kind == op_kind::reshape && !made(from).keepdims && !n.keepdims) {
      const std::int32_t x = r_.out.input(from, 0);
      const extent_product middle(r_.in, made(from));
      if (!(middle == extent_product(r_.in, n)) && !(middle == extent_product(r_.in, made(x))))
        break;
      from = x;
      count(fold_rule::compose_reshape);
    }
    if (!replace_if_equal(fold_rule::no_extent_change, id, from))
      r_.to[id] = r_.out.append(n, &from, 1);
  }

  static constexpr std::int32_t unknown = -2, none = -1;

  rewriter r_;
  fold_counts* counts_;
  bool gradients_left_ = false;
  list<std::int32_t> uniform_;
};

}  // namespace detail

/// The graph with constants evaluated and exact identities applied. Nodes that nothing uses any
/// more stay; `dce` removes them.
[[nodiscard]] constexpr graph fold(const graph_view& g, fold_counts* counts = nullptr) {
  return detail::fold_pass(g, counts).finish();
}

}  // namespace calque
