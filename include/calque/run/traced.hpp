// `cq::trace(f)`: the callable that plans on the first call for new sizes and replays on later ones.
#pragma once

#include <span>
#include <string>
#include <tuple>

#include "calque/array/factories.hpp"
#include "calque/graph/dump.hpp"
#include "calque/run/signature.hpp"
#include "calque/trace/gradient.hpp"

namespace calque {

/// Destinations of `f.into(cq::outs(a, b), args…)`: references to arrays, in the order of the results.
template <class... X>
struct outs_t {
  std::tuple<X&...> arrays;
};
template <class... X>
[[nodiscard]] constexpr outs_t<X...> outs(X&... arrays) {
  return {std::tuple<X&...>(arrays...)};
}

namespace detail {

template <class X, class F>
void for_each_out(X& x, F&& f) { for_each_leaf(x, f); }
template <class... X, class F>
void for_each_out(const outs_t<X...>& o, F&& f) {
  std::apply([&](auto&... x) { (for_each_leaf(x, f), ...); }, o.arrays);
}

template <class X>
constexpr bool check_argument() {
  static_assert(argument_type<X>,
                "cq::trace(f): f was called with an argument of unsupported type; pass arrays, "
                "variables, numbers, cq::static_<N>, shapes, or tuples and aggregates of these (a model "
                "is a struct template: template <template <class, int> class A> struct model { A<float, "
                "2> w; };)");
  return true;
}

/// Runs a leased plan for the arguments in `frame`.
template <class S, class Frame>
void run_plan(const calque::plan& p, Frame& frame, void* const* results) {
  for (int k = 0; k < S::leaf_count; ++k) {
    if (frame.at(k).kind != argument_kind::variable) continue;
    if (p.reads_variable(k) && !frame.initialised(k))
      throw value_error(std::string("calque: variable '") + frame.at(k).name +
                        "' is read before it has a value; assign one, or construct it from an array");
  }
  for (int k = 0; k < S::leaf_count; ++k)
    if (frame.at(k).kind == argument_kind::variable && p.writes_variable(k)) frame.prepare_write(k);
  replay(p, frame.leaves(), results);
  for (int k = 0; k < S::leaf_count; ++k)
    if (frame.at(k).kind == argument_kind::variable && p.writes_variable(k))
      frame.mark_initialised(k);
}

}  // namespace detail

/// A plan to read; it lives as long as this object.
class held_plan {
 public:
  explicit held_plan(plan_lease lease) : lease_(std::move(lease)) {}
  [[nodiscard]] std::string dump() const { return lease_->dump(); }
  [[nodiscard]] std::string dot() const { return lease_->dot(); }
  [[nodiscard]] std::string json() const { return lease_->json(); }
  [[nodiscard]] std::string explain() const { return lease_->explain(); }
  /// Bytes that a call holds at its peak on `where`: temporaries, scratch and fresh results.
  [[nodiscard]] bytes peak_bytes(device where = cpu()) const {
    return where == cpu() ? lease_->peak_bytes() : bytes{0};
  }
  [[nodiscard]] const calque::plan* operator->() const { return &*lease_; }

 private:
  plan_lease lease_;
};

/// A traced function: an empty object; see `trace`.
template <class F, int PassLevel>
struct traced {
  /// Calls f. With arrays: plans for new sizes, replays, and returns arrays in the structure that f
  /// returned. With symbols, inside another traced function: f's operations become part of that trace.
  ///
  /// Throws `shape_error`, `alias_error`, `value_error`, `out_of_memory`; arguments and variables are
  /// then as before.
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    if constexpr ((detail::holds_symbols<A>::value || ...)) {
      static_assert(!(detail::has_array<A> || ...), CALQUE_MIXED);
      return F{}(args...);
    } else if constexpr ((detail::check_argument<A>() && ...)) {
      using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
      detail::request_frame<S::leaf_count> frame(args...);
      const plan_lease lease =
          S::cache().find({frame.leaves(), S::leaf_count, nullptr, 0});
      const calque::plan& p = *lease;
      if constexpr (std::is_void_v<typename S::result>) {
        detail::run_plan<S>(p, frame, nullptr);
      } else {
        using R = detail::arrays_of<typename S::result>;
        R r{};
        void* data[detail::count_leaves<typename S::result>() + 1];
        int k = 0;
        detail::for_each_leaf(r, [&]<class L>(L& leaf) {
          if constexpr (detail::has_array<L>) {
            std::array<std::int64_t, static_cast<std::size_t>(L::rank())> e{};
            for (int i = 0; i < L::rank(); ++i)
              e[static_cast<std::size_t>(i)] = p.result_extents(k)[i];
            if constexpr (L::rank() > 0) leaf = L::uninitialised(calque::shape<L::rank()>(e));
            data[k++] = detail::prepare_write(leaf, detail::contents::discard);
          }
        });
        detail::run_plan<S>(p, frame, data);
        return r;
      }
    }
  }

  /// Calls f and writes its results into existing arrays: one array, `cq::outs(a, b)`, or an aggregate
  /// of arrays in the structure of f's result. Nothing is allocated, but for arrays that are not
  /// allocated yet, and for storage shared with other handles, which is detached first. An out may
  /// overlap an argument: that is read first. Outs that overlap each other throw `alias_error`, other
  /// extents than the result's `shape_error`.
  template <class Out, class... A>
  void into(Out&& out, const A&... args) const {
    static_assert((detail::check_argument<A>() && ...));
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    static_assert(!std::is_void_v<typename S::result>, "cq f.into(out, …): f returns nothing");
    using R = detail::arrays_of<typename S::result>;
    constexpr int count = detail::count_leaves<typename S::result>();
    output o[count + 1];
    void* data[count + 1];
    bool missing = false;
    int k = 0;
    detail::for_each_out(out, [&]<class L>(L& leaf) {
      if constexpr (detail::leaf_traits<L>::kind != detail::leaf_kind::constant) {
        static_assert(!std::is_const_v<L> && detail::has_array<L>,
                      "cq f.into(out, …): out must be a writable array or cq::outs(a, b)");
        ++k;
        missing = missing || !leaf.is_allocated();
      }
    });
    if (k != count)
      throw shape_error("f.into: f has " + std::to_string(count) + " results, " + std::to_string(k) +
                        " arrays were given; name one for each with cq::outs(a, b)");
    if (missing) {
      const detail::request_frame<S::leaf_count> frame(args...);
      const plan_lease lease = S::cache().find({frame.leaves(), S::leaf_count, nullptr, 0});
      int r = 0;
      detail::for_each_out(out, [&]<class L>(L& leaf) {
        if constexpr (detail::has_array<L>) {
          if constexpr (L::rank() > 0) {
            std::array<std::int64_t, static_cast<std::size_t>(L::rank())> e{};
            for (int i = 0; i < L::rank(); ++i)
              e[static_cast<std::size_t>(i)] = lease->result_extents(r)[i];
            if (!leaf.is_allocated()) leaf = L::uninitialised(calque::shape<L::rank()>(e));
          }
          ++r;
        }
      });
    }
    k = 0;
    check_types<R>(out);
    detail::for_each_out(out, [&]<class L>(L& leaf) {
      if constexpr (detail::has_array<L>) {
        data[k] = detail::prepare_write(leaf, detail::contents::keep);
        o[k] = {detail::array_access::extents(leaf), detail::array_access::strides(leaf), data[k]};
        ++k;
      }
    });
    detail::request_frame<S::leaf_count> frame(args...);
    const plan_lease lease = S::cache().find({frame.leaves(), S::leaf_count, o, count});
    detail::run_plan<S>(*lease, frame, data);
  }

  /// Plans for these arguments without running or allocating tensor memory; the plan can be read.
  template <class... A>
  [[nodiscard]] held_plan plan(const A&... args) const {
    static_assert((detail::check_argument<A>() && ...));
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    const detail::request_frame<S::leaf_count> frame(args...);
    return held_plan{S::cache().find({frame.leaves(), S::leaf_count, nullptr, 0})};
  }

  /// Totals over all argument types that f was called with.
  [[nodiscard]] cache_stats stats() const {
    cache_stats total;
    for_each_cache([&](plan_cache& c) {
      const cache_stats s = c.stats();
      total.plans += s.plans;
      total.hits += s.hits;
      total.misses += s.misses;
      total.evictions += s.evictions;
      total.launches += s.launches;
      total.allocations += s.allocations;
      total.peak_bytes = s.peak_bytes > total.peak_bytes ? s.peak_bytes : total.peak_bytes;
    });
    return total;
  }
  /// Why the calling thread's last new plan was made: which argument, which field.
  [[nodiscard]] std::string last_miss() const {
    std::string text;
    for_each_cache([&](plan_cache& c) { text = text.empty() ? c.last_miss() : text; });
    return text;
  }
  /// Lists of argument types that f was traced for and called with.
  [[nodiscard]] int graphs() const {
    int n = 0;
    for_each_cache([&](plan_cache&) { ++n; });
    return n;
  }
  /// Bounds the plans kept for each list of argument types: their number, and their bytes (0: any).
  void plan_limit(std::int64_t count, bytes most) const {
    detail::caches_of<F, PassLevel>().limit(count, most);
  }
  /// Drops all plans that no call is using.
  void clear() const {
    for_each_cache([](plan_cache& c) { c.clear(); });
  }

 private:
  template <class Visit>
  static void for_each_cache(Visit&& visit) {
    for (auto* e = detail::caches_of<F, PassLevel>().head.load(std::memory_order_acquire); e;
         e = e->next)
      visit(*e->cache);
  }
  /// Each out has the element type and rank of its result.
  template <class R, class Out>
  static void check_types(Out& out) {
    dtype types[64]{};
    int ranks[64]{}, k = 0;
    R r{};
    detail::for_each_leaf(r, [&]<class L>(L&) {
      if constexpr (detail::has_array<L>) types[k] = detail::operand_traits<L>::type, ranks[k++] = L::rank();
    });
    k = 0;
    detail::for_each_out(out, [&]<class L>(L&) {
      if constexpr (detail::has_array<L>) {
        if (types[k] != detail::operand_traits<L>::type || ranks[k] != L::rank())
          throw dtype_error("f.into: result " + std::to_string(k) + " is " +
                            std::string(name_of(types[k])) + " of rank " + std::to_string(ranks[k]) +
                            ", the array given is " +
                            std::string(name_of(detail::operand_traits<L>::type)) + " of rank " +
                            std::to_string(L::rank()));
        ++k;
      }
    });
  }
};

/// Wraps a captureless function of arrays, variables and numbers. The compiler traces it once for each
/// list of argument types; the first call with new sizes plans, later ones replay.
///
///   inline constexpr auto f = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
///   cq::array<float, 1> z = f(x, y, 2.f);
template <options O = options{}, class F>
[[nodiscard]] constexpr auto trace(F) {
  static_assert(detail::captureless<F>,
                "cq::trace(f): f must be captureless; pass state as an argument of the traced function");
  return traced<F, O.pass_level>{};
}

/// A graph that the compiler traced, for `static_assert` and for reading.
class traced_graph : public graph_view {
 public:
  constexpr explicit traced_graph(const graph_view& g) : graph_view(g) {}

  /// Number of nodes; entries of regions do not count.
  [[nodiscard]] constexpr int nodes() const { return node_count - region_count; }
  /// One line a node, the same in every process and for every compiler.
  [[nodiscard]] std::string dump() const { return calque::dump(*this); }
  [[nodiscard]] std::string dot() const { return calque::dot(*this); }
  [[nodiscard]] std::string json() const { return calque::json(*this); }
  /// The passes that ran, with the number of nodes before and after each.
  [[nodiscard]] constexpr std::span<const pass_report> passes() const {
    return {reports_, static_cast<std::size_t>(report_count_)};
  }

 private:
  template <auto F, class... A>
  friend constexpr traced_graph graph_of();

  pass_report reports_[5]{};
  int report_count_ = 0;
};

namespace detail {

template <class F, class... A>
struct signature_for : std::type_identity<signature<F, 2, key_of<A>...>> {};
template <class F, int Level, class... A>
struct signature_for<traced<F, Level>, A...>
    : std::type_identity<signature<F, Level, key_of<A>...>> {};

template <class F, int I>
struct pick_fn {
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    return std::get<I>(F{}(args...));
  }
};

}  // namespace detail

/// The graph of `f` (traced or plain) at argument types `A…`, after all passes.
///
///   static_assert(cq::graph_of<f, cq::array<float, 1>>().kernels() == 1);
template <auto F, class... A>
[[nodiscard]] constexpr traced_graph graph_of() {
  using S = typename detail::signature_for<std::remove_cv_t<decltype(F)>, A...>::type;
  traced_graph g(S::final::view());
  g.report_count_ = S::stages::reports(g.reports_);
  return g;
}

/// The function that gives only result `I` of `f` (which returns a tuple); what the other results
/// alone need is neither computed nor launched.
template <int I, class F>
[[nodiscard]] constexpr auto pick(F) {
  static_assert(detail::captureless<F>,
                "cq::pick<I>(f): f must be captureless; pass state as an argument");
  return traced<detail::pick_fn<F, I>, options{}.pass_level>{};
}

}  // namespace calque
