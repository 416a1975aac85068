// Appends nodes to a graph: extents, regions, effects of variables, names and source lines.
//
// Used by tracing (in a constant expression), by passes that add nodes, and by tests that build
// graphs at run time. Operations' own rules sit in ops/; they call `append` with their extents.
#pragma once

#include <string_view>

#include "calque/graph/fault.hpp"
#include "calque/graph/graph.hpp"
#include "calque/graph/guard_stack.hpp"
#include "calque/graph/location.hpp"
#include "calque/graph/names.hpp"
#include "calque/graph/structure.hpp"

namespace calque {

class builder;

/// Told of every node as it is appended (of the owner of regions, once it owns them): how a body
/// runs operation by operation.
struct build_observer {
  void (*appended)(build_observer& self, builder& b, std::int32_t id) = nullptr;
};

/// A graph under construction. Ids returned are node ids in `g`.
class builder {
 public:
  graph g;
  build_observer* observer = nullptr;
  location where{};              // of the operation being traced
  trace_fault* fault = nullptr;  // where the first fault is noted; null: it is thrown
  std::int32_t device = -1;      // of the operations being traced: its name in `g.chars`
  detail::guard_stack guards;    // what is pushed or popped there is the new `device`

  constexpr builder() { open_region(-1); }
  /// Goes on with the body of a graph; its variables cannot be read or assigned any more.
  constexpr explicit builder(graph&& existing) : g(static_cast<graph&&>(existing)), open_(0) {}

  /// Notes what is wrong; tracing goes on with some value in place of the faulty one.
  constexpr void fail(trace_fault f) {
    if (!fault) detail::throw_fault(f);
    if (*fault == trace_fault::none) *fault = f;
  }

  // --- extents ---------------------------------------------------------------------------------

  constexpr int dim_of(const dim& d) {
    for (int i = 0; i < g.dims.size(); ++i) {
      const dim& e = g.dims[i];
      if (e.kind == d.kind && e.a == d.a && e.b == d.b && e.value == d.value) return i;
    }
    return g.dims.push(d);
  }
  constexpr int literal_dim(std::int64_t v) { return dim_of({dim_kind::literal, -1, -1, v}); }
  constexpr int argument_dim(int argument, int axis) {
    return g.dims.push({dim_kind::argument, argument, axis, 0});
  }
  constexpr int arithmetic_dim(dim_kind k, int a, int b) {
    a = canonical(a), b = canonical(b);
    const dim x = g.dims[a], y = g.dims[b];
    if (x.kind == dim_kind::literal && y.kind == dim_kind::literal) {
      if (k == dim_kind::add) return literal_dim(x.value + y.value);
      if (k == dim_kind::sub) return literal_dim(x.value - y.value);
      if (k == dim_kind::mul) return literal_dim(x.value * y.value);
      if (k == dim_kind::maximum) return literal_dim(x.value > y.value ? x.value : y.value);
      if (k == dim_kind::div) return literal_dim(y.value == 0 ? 0 : x.value / y.value);
    }
    return dim_of({k, a, b, 0});
  }
  /// NumPy's rule on two extents, simplified where the answer is known.
  constexpr int broadcast_dim(int a, int b) {
    if (a == b) return a;
    a = canonical(a), b = canonical(b);
    if (a == b || is_literal(b, 1) || contains(a, b)) return a;
    if (is_literal(a, 1) || contains(b, a)) return b;
    return dim_of({dim_kind::broadcast, a < b ? a : b, a < b ? b : a, 0});
  }
  constexpr int canonical(int d) const {
    while (g.dims[d].same_as >= 0) d = g.dims[d].same_as;
    return d;
  }
  constexpr bool same_dim(int a, int b) const { return a == b || canonical(a) == canonical(b); }
  constexpr bool is_literal(int d, std::int64_t v) const {
    const dim& c = g.dims[canonical(d)];
    return c.kind == dim_kind::literal && c.value == v;
  }
  /// Records that an operation's check makes two extents equal.
  constexpr void unify(int a, int b) {
    a = canonical(a), b = canonical(b);
    if (a == b) return;
    // literals stay the representatives; otherwise the earlier extent does
    const bool a_literal = g.dims[a].kind == dim_kind::literal;
    const bool keep_b = g.dims[b].kind == dim_kind::literal || (!a_literal && b < a);
    if (g.dims[a].kind == dim_kind::literal && g.dims[b].kind == dim_kind::literal) return;
    dim& joins = g.dims[keep_b ? a : b];
    joins.same_as = keep_b ? b : a;
    joins.function = where.function;
  }
  constexpr bool same_extents(const node& a, const node& b) const {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (!same_dim(a.dims[i], b.dims[i])) return false;
    return true;
  }

  // --- nodes -----------------------------------------------------------------------------------

  /// Appends `n` with the given inputs to the open region.
  constexpr int append(node n, const std::int32_t* inputs, int count) {
    n.first_input = g.add_to_pool(inputs, count);
    n.inputs = count;
    n.region = open_;
    if (n.line == 0) n.line = where.line, n.file = where.file;
    if (n.function == nullptr) n.function = where.function;
    if (n.device < 0) n.device = device;
    const int id = g.nodes.push(n);
    if (observer && n.op->kind != op_kind::cond && n.op->kind != op_kind::loop)
      observer->appended(*observer, *this, id);
    return id;
  }
  template <class... I>
  constexpr int append_with(const node& n, I... ids) {
    if constexpr (sizeof...(I) == 0) {
      return append(n, nullptr, 0);
    } else {
      const std::int32_t inputs[] = {static_cast<std::int32_t>(ids)...};
      return append(n, inputs, static_cast<int>(sizeof...(I)));
    }
  }
  template <class Op>
  static constexpr node make(dtype t, int rank = 0) {
    node n;
    n.op = &op_info_of<Op>;
    n.type = t;
    n.rank = static_cast<std::uint8_t>(rank);
    return n;
  }
  constexpr const node& at(int id) const { return g.nodes[id]; }
  constexpr int input(int id, int k) const { return g.pool[g.nodes[id].first_input + k]; }

  constexpr int constant_of(dtype t, const constant& v) {
    node n = make<op::constant>(t);
    n.value = v;
    return append_with(n);
  }
  /// A literal of type `t`, rounded once.
  constexpr int number(dtype t, double v) {
    return constant_of(t, is_floating(t) ? detail::narrowed(t, {v, 0})
                                         : constant{0, static_cast<std::int64_t>(v)});
  }
  constexpr int extent_of(int dim) {
    node n = make<op::extent>(dtype::int64);
    n.index = dim;
    return append_with(n);
  }
  /// 0, 1, 2, … along `axis`, the same along the others.
  constexpr int iota(dtype t, int rank, const std::int32_t* dims, int axis) {
    node n = make<op::iota>(t, rank);
    for (int i = 0; i < rank; ++i) n.dims[i] = dims[i];
    n.index = axis;
    return append_with(n);
  }

  /// An elementwise operation; its extents are its operands' broadcast together, or those of
  /// operand `keeps`, to which the plan then holds the others.
  constexpr int map(const op_info& o, dtype t, const std::int32_t* ids, int count, int keeps = -1) {
    node n;
    n.op = &o;
    n.type = t;
    std::int32_t in[4]{};
    int rank = 0;
    for (int k = 0; k < count; ++k) {
      in[k] = value_of(ids[k]);
      if (g.nodes[in[k]].rank > rank) rank = g.nodes[in[k]].rank;
    }
    n.rank = static_cast<std::uint8_t>(rank);
    for (int axis = 1; axis <= rank; ++axis) {  // from the last one
      int d = -1;
      for (int k = 0; k < count; ++k) {
        const node& m = g.nodes[in[k]];
        if (axis > m.rank) continue;
        const int e = m.dims[m.rank - axis];
        d = d < 0 ? e : broadcast_dim(d, e);
      }
      n.dims[rank - axis] = d;
    }
    for (int i = 0; keeps >= 0 && i < rank; ++i) {
      const int d = g.nodes[in[keeps]].dims[i];
      unify(n.dims[i], d);
      n.dims[i] = d;
    }
    return append(n, in, count);
  }
  template <class Op, class... I>
  constexpr int map_of(dtype t, I... ids) {
    const std::int32_t in[] = {static_cast<std::int32_t>(ids)...};
    return map(op_info_of<Op>, t, in, static_cast<int>(sizeof...(I)));
  }

  // --- regions ---------------------------------------------------------------------------------

  [[nodiscard]] constexpr int open() const { return open_; }
  /// Whether a region is the open one or lies around it.
  [[nodiscard]] constexpr bool encloses_open(int region) const {
    return region == open_ || g.view().encloses(region, open_);
  }

  /// Starts a region inside the open one. `repeats` says that its nodes may run more than once.
  constexpr int begin_region(bool repeats) {
    saved_.push({open_, base_});
    const int outer = base_, n = variables_.size();
    base_ = n;
    for (int i = outer; i < n; ++i) variables_.push(variables_[i]);
    const int r = open_region(open_);
    if (repeats)
      for (int i = base_; i < variables_.size(); ++i)
        variables_[i].token = g.regions[r].first, variables_[i].value = -1;
    for (int i = base_; i < variables_.size(); ++i) variables_[i].written = false;
    return r;
  }
  constexpr int region_argument(const node& like) {
    node n = make<op::region_arg>(like.type, like.rank);
    for (int i = 0; i < like.rank; ++i) n.dims[i] = like.dims[i];
    n.index = g.regions[open_].arguments++;
    return append_with(n);
  }
  constexpr void end_region(const std::int32_t* results, int count) {
    region& r = g.regions[open_];
    r.last = g.nodes.size();
    r.results = count;
    r.first_result = g.add_to_pool(results, count);
    const saved s = saved_.back();
    const int outer = s.base;
    for (int i = base_; i < variables_.size(); ++i)
      if (variables_[i].written) {
        variables_[outer + i - base_].written = true;
        pending_.push({variables_[i].variable, open_});
      }
    variables_.resize(base_);
    base_ = outer;
    open_ = s.open;
    saved_.pop();
  }
  /// Ends the effects of the regions just closed at their owner.
  constexpr void own(int owner, int region0, int region1) {
    g.nodes[owner].body0 = region0;
    g.nodes[owner].body1 = region1;
    if (region0 >= 0) g.regions[region0].owner = owner;
    if (region1 >= 0) g.regions[region1].owner = owner;
    for (; !pending_.empty(); pending_.pop()) {
      const effect e = pending_.back();
      if (e.region != region0 && e.region != region1) break;  // of an outer owner's first region
      for (int i = base_; i < variables_.size(); ++i)
        if (variables_[i].variable == e.variable)
          variables_[i].token = owner, variables_[i].value = -1;
    }
    if (observer) observer->appended(*observer, *this, owner);
  }
  constexpr int result_of(int owner, int k, const node& like) {
    node n = make<op::result>(like.type, like.rank);
    for (int i = 0; i < like.rank; ++i) n.dims[i] = like.dims[i];
    n.index = k;
    return append_with(n, owner);
  }

  // --- variables -------------------------------------------------------------------------------

  constexpr void declare_variable(int id) { variables_.push({id, g.regions[0].first, -1, false}); }
  /// Node `id`, or the present value of the variable that it names.
  constexpr int value_of(int id) {
    if (id < 0) return value_of_unset();
    if (!encloses_open(g.nodes[id].region)) return value_of_escaped(id);
    if (g.nodes[id].op->kind != op_kind::variable) return id;
    variable_state& v = state_of(id);
    if (v.value < 0) {
      const node& h = g.nodes[id];
      node n = make<op::read>(h.type, h.rank);
      for (int i = 0; i < h.rank; ++i) n.dims[i] = h.dims[i];
      const int token = v.token;
      const int r = append_with(n, id, token);
      state_of(id).value = r;
      return r;
    }
    return v.value;
  }
  constexpr void assign(int variable, int value) {
    const node& h = g.nodes[variable];
    node n = make<op::assign>(h.type, h.rank);
    for (int i = 0; i < h.rank; ++i) {
      n.dims[i] = h.dims[i];
      unify(h.dims[i], g.nodes[value].dims[i]);
    }
    const int token = state_of(variable).token;
    const int id = append_with(n, variable, value, token);
    variable_state& v = state_of(variable);
    v.token = id;
    v.value = value;
    v.written = true;
  }
  /// Makes `value` stand for the variable's present value; returns what stood there.
  constexpr int exchange_value(int variable, int value) {
    variable_state& v = state_of(variable);
    const int old = v.value;
    v.value = value;
    return old;
  }

  // --- names -----------------------------------------------------------------------------------

  constexpr void push_scope(std::string_view name) {
    scope_marks_.push(scope_.size());
    for (char c : name) scope_.push(c);
    scope_.push('/');
  }
  constexpr void pop_scope() { scope_.resize(scope_marks_.back()), scope_marks_.pop(); }
  /// Names a node; with the scopes' prefix, made unique by `_1`, `_2`, ….
  constexpr void set_name(int id, std::string_view name) {
    const int start = g.chars.size();
    for (char c : scope_) g.chars.push(c);
    for (char c : name) g.chars.push(c);
    g.chars.push('\0');
    const int suffix = detail::next_suffix(g, start);
    if (suffix > 0) {
      g.chars.back() = '_';
      int digits = 1;
      while (suffix / digits >= 10) digits *= 10;
      for (; digits > 0; digits /= 10) g.chars.push(static_cast<char>('0' + suffix / digits % 10));
      g.chars.push('\0');
    }
    g.nodes[id].name = start;
  }

  /// Ends the function's body with these results.
  constexpr graph finish(const std::int32_t* results, int count) {
    region& r = g.regions[0];
    r.last = g.nodes.size();
    r.results = count;
    r.first_result = g.add_to_pool(results, count);
    return static_cast<graph&&>(g);
  }

 private:
  struct variable_state {
    std::int32_t variable, token, value;
    bool written;
  };
  struct saved {
    std::int32_t open, base;
  };
  struct effect {
    std::int32_t variable, region;
  };

  constexpr int open_region(int parent) {
    region r;
    r.parent = parent;
    r.first = g.nodes.size();
    open_ = g.regions.push(r);
    append_with(make<op::entry>(dtype::none));
    return open_;
  }
  constexpr int value_of_unset() {
    fail(trace_fault::unset);
    node n = make<op::constant>(dtype::float32);
    for (std::int32_t& d : n.dims) d = literal_dim(1);
    return append_with(n);
  }
  constexpr int value_of_escaped(int id) {
    fail(trace_fault::escaped);
    node n = make<op::constant>(g.nodes[id].type, g.nodes[id].rank);
    for (int i = 0; i < n.rank; ++i) n.dims[i] = g.nodes[id].dims[i];
    return append_with(n);
  }
  constexpr variable_state& state_of(int id) {
    for (int i = base_; i < variables_.size(); ++i)
      if (variables_[i].variable == id) return variables_[i];
    throw value_error("calque: this variable does not belong to the function being traced");
  }
  constexpr bool contains(int whole, int part) const {
    const dim& d = g.dims[whole];
    if (d.kind != dim_kind::broadcast) return false;
    const int a = canonical(d.a), b = canonical(d.b);
    return a == part || b == part || contains(a, part) || contains(b, part);
  }
  int open_ = -1, base_ = 0;
  detail::list<variable_state> variables_;  // one block of states for each open region
  detail::list<saved> saved_;
  detail::list<effect> pending_;  // of closed regions whose owner comes later
  detail::list<char> scope_;
  detail::list<std::int32_t> scope_marks_;
};

}  // namespace calque
