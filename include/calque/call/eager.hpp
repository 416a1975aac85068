// `cq::eager(f)`: the same body on real arrays, one operation after the other, while it runs.
//
// The body gets the very symbols that tracing gives it, so it accepts and refuses the same; but the
// graph grows at run time, and each operation is evaluated as it is appended. A breakpoint in the
// body stops at every call, and `cq::debug(x)` reads a value. Branches and loops are evaluated as a
// whole when they end. Slow: for finding faults, not for computing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calque/call/traced.hpp"
#include "calque/plan/check.hpp"
#include "calque/plan/effects.hpp"
#include "calque/run/interpreter.hpp"

namespace calque {
namespace detail {

/// Evaluates nodes as they are appended.
class eager_session : public build_observer {
 public:
  template <class Frame>
  eager_session(builder& b, const Frame& frame, int count)
      : leaves_(frame.leaves()), count_(count), b_(b) {
    appended = [](build_observer& self, builder&, std::int32_t id) {
      static_cast<eager_session&>(self).evaluate(id);
    };
    for (int k = 0; k < count; ++k) {
      given_.push_back(from_leaf(leaves_[k]));
      if (!frame.initialised(k)) unset_.emplace_back(k, frame.variable_text(k));
    }
    run_.emplace(b.g.view(), given_);
    for (int id = 0; id < b.g.nodes.size(); ++id) run_->evaluate_next(b.g.view(), id);
    b.observer = this;
  }

  template <class T, int Rank>
  [[nodiscard]] array<T, Rank> value(int id) const {
    return to_array<T, Rank>(run_->value_of(id));
  }
  /// The value that the variable of leaf `k` has now.
  template <class T, int Rank>
  [[nodiscard]] array<T, Rank> argument(int k) const {
    return to_array<T, Rank>(run_->arguments()[static_cast<std::size_t>(k)]);
  }
  [[nodiscard]] static eager_session* of(const builder& b) {
    return static_cast<eager_session*>(b.observer);
  }

 private:
  void evaluate(int id) {
    if (b_.open() != 0) return;  // evaluated by the owner of the region
    b_.g.regions[0].last = b_.g.nodes.size();
    if (!unset_.empty()) check_reads();
    const planning::sized_graph sizes(b_.g.view(), leaves_, count_);
    const node& n = b_.at(id);  // an owner is checked with its regions
    const int first = n.body0 < 0 ? id : b_.g.regions[n.body0].first;
    const planning::size_check check(sizes);
    check.run(first, id + 1);
    check.check_equalities();
    if (first == id) check_limit(b_.g.view(), id, leaves_);
    bool derives = false;
    for (int i = first; i <= id; ++i) derives = derives || b_.at(i).op->kind == op_kind::gradient;
    if (derives) expand(id);
    else run_->evaluate_next(b_.g.view(), id);
  }
  /// A gradient node, or a branch or loop with one inside: the function so far is expanded as the
  /// compiler does it, and runs from the start.
  void expand(int id) {
    if (needs_run_time_steps(b_.g.view())) throw value_error(CALQUE_FAULT_STEPS);
    builder rest(duplicate(b_.g.view()));
    const node owner = rest.at(id);
    const bool gradients = owner.op->kind == op_kind::gradient;
    const region body = gradients ? region{} : rest.g.regions[owner.body0];
    const int first = gradients ? owner.first_input + 1 : body.first_result;
    const int count = gradients ? owner.inputs - 1 : body.results;
    id_list results;
    for (int k = 0; k < count; ++k)
      results.push(rest.result_of(id, k, node(rest.at(rest.g.pool[first + k]))));
    const graph whole = rest.finish(results.begin(), results.size());
    const graph expanded = gradient(whole.view());
    reference::interpreter again(expanded.view(), given_);
    std::vector<reference::tensor> values = again.run();
    run_->set_results(id, std::move(values), again.arguments());
  }
  /// A variable without a value may be assigned, not read.
  void check_reads() const {
    const graph_view g = b_.g.view();
    const auto use = planning::variable_use(g, planning::graph_facts(g));
    for (const auto& [k, text] : unset_)
      if (use[static_cast<std::size_t>(k)] & 1)
        throw value_error("cq::eager(f): " + text +
                          " has no value yet; assign one, or construct it from an array");
  }
  static reference::tensor from_leaf(const leaf& l) {
    reference::tensor t{l.type, {}, {}};
    if (l.kind == argument_kind::device) return t;
    const device_access reading(l.place);
    if (l.kind == argument_kind::extents) {
      t.shape = {l.rank};
      for (int i = 0; i < l.rank; ++i) t.data.push_back({0, l.extents[i]});
      return t;
    }
    for (int i = 0; i < l.rank; ++i) t.shape.push_back(l.extents[i]);
    const std::int64_t n = t.size();
    visit_dtype<int>(l.type, [&]<class T>(T) {
      for (std::int64_t at = 0; at < n; ++at) {
        std::int64_t rest = at, offset = 0, dense = 1;
        for (int a = l.rank - 1; a >= 0; --a) {
          const std::int64_t i = rest % l.extents[a];
          rest /= l.extents[a];
          offset += i * (l.strides ? l.strides[a] : dense);
          dense *= l.extents[a];
        }
        t.data.push_back(make_constant<T>(static_cast<const T*>(l.data)[offset]));
      }
      return 0;
    });
    return t;
  }
  template <class T, int Rank>
  static array<T, Rank> to_array(const reference::tensor& t) {
    std::array<std::int64_t, static_cast<std::size_t>(Rank)> e{};
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = t.shape[i];
    array<T, Rank> a = array<T, Rank>::uninitialised(shape<Rank>(e));
    T* p = prepare_write(a, contents::discard);
    for (std::size_t i = 0; i < t.data.size(); ++i) p[i] = constant_as<T>(t.data[i]);
    return a;
  }

  const leaf* leaves_;
  int count_;
  builder& b_;
  std::vector<reference::tensor> given_;            // the arguments before the call
  std::vector<std::pair<int, std::string>> unset_;  // leaves of variables without a value
  std::optional<reference::interpreter> run_;
};

template <class F>
struct eager_fn {
  template <class... A>
  auto operator()(const A&... args) const {
    static_assert((check_argument<A>() && ...));
    using source = trace_source<F, key_of<A>...>;
    constexpr int count = (count_leaves<symbols_of<key_of<A>>>() + ... + 0);
    request_frame<count> frame(args...);
    builder b;
    typename source::symbols s{};
    source::declare_all(b, s);
    eager_session session(b, frame, count);
    if constexpr (std::is_void_v<typename source::result>) {
      std::apply(F{}, s);
      store_variables(session, b.g.view(), args...);
    } else {
      auto r = std::apply(F{}, s);
      arrays_of<typename source::result> out{};
      std::vector<std::int32_t> ids;
      for_each_leaf(r, [&]<class L>(L& leaf) {
        if constexpr (symbolic<L>) ids.push_back(b.value_of(leaf.id));
        else if constexpr (scalar_literal<L>)
          ids.push_back(b.constant_of(dtype_of<scalar_element<L>>,
                                      make_constant(static_cast<scalar_element<L>>(leaf))));
      });
      std::size_t k = 0;
      for_each_leaf(out, [&]<class L>(L& leaf) {
        if constexpr (has_array<L>) {
          const device where = device_of_value(b.g.view(), ids[k], frame.leaves());
          leaf = session.template value<type_of<operand_traits<L>::type>, L::rank()>(ids[k++]).to(
              where);
        }
      });
      store_variables(session, b.g.view(), args...);
      return out;
    }
  }

 private:
  /// Where a guard in the body, or around the call, asks for a result.
  static device device_of_value(const graph_view& g, int id, const leaf* leaves) {
    const std::string_view name = asked_device(g.device(g.nodes[id]));
    if (const int k = argument_of(name); k >= 0) return device(device_ref(leaves[k].place));
    if (!name.empty()) return device(device_name{name});
    if (current_device().guarded) return device(device_ref(current_device().entry));
    return default_device();
  }
  template <class... A>
  static void store_variables(const eager_session& session, const graph_view& g, const A&... args) {
    const planning::graph_facts facts(g);
    int k = 0;
    const auto store = [&]<class L>(const L& leaf) {
      if constexpr (leaf_traits<L>::kind == leaf_kind::variable)
        if (facts.writes(k)) leaf.assign(session.argument<typename L::value_type, L::rank()>(k));
      if constexpr (leaf_traits<L>::kind != leaf_kind::constant) ++k;
    };
    (for_each_leaf(args, store), ...);
  }
};
template <class F>
struct eager_target {
  using type = F;
};
template <class F, int Level>
struct eager_target<traced<F, Level>> {
  using type = F;
};

}  // namespace detail

/// Runs f's body (plain or traced) on real arrays, operation by operation: same results as the
/// traced function within rounding, and the same errors. Variables are written when the body has
/// ended.
///
///   auto y = cq::eager(f)(x, 2.f);
template <class F>
[[nodiscard]] constexpr auto eager(F) {
  static_assert(detail::captureless<F>,
                "cq::eager(f): f must be captureless; pass state as an argument");
  return detail::eager_fn<typename detail::eager_target<F>::type>{};
}

/// The value that a symbol has in `cq::eager`; in a traced function there is none, and the call
/// does not compile.
template <class T, int Rank>
[[nodiscard]] array<T, Rank> debug(const expr<T, Rank>& x) {
  const detail::eager_session* session = x.b ? detail::eager_session::of(*x.b) : nullptr;
  if (!session || x.b->open() != 0)
    throw value_error(
        "cq::debug(x): x has a value only in the body of cq::eager(f), outside cond and "
        "for_loop");
  return session->value<T, Rank>(x.b->value_of(x.id));
}
template <class T>
[[nodiscard]] array<T, 0> debug(const scalar_expr<T>& x) {
  return debug(expr<T, 0>(x.b, x.id));
}
template <class T, int Rank>
[[nodiscard]] const array<T, Rank>& debug(const array<T, Rank>& x) {
  return x;
}

}  // namespace calque
