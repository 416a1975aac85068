// `cq::trace(f)`: the callable that plans on the first call for new sizes and replays on later
// ones.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "calque/array/factories.hpp"
#include "calque/call/draw_limits.hpp"
#include "calque/call/held_plan.hpp"
#include "calque/call/outs.hpp"
#include "calque/call/run_plan.hpp"
#include "calque/call/signature.hpp"
#include "calque/call/usual_call.hpp"
#include "calque/graph/dump.hpp"
#include "calque/trace/gradient.hpp"

namespace calque {

namespace detail {

template <class X>
constexpr bool check_argument() {
  static_assert(
      argument_type<X>,
      "cq::trace(f): f was called with an argument of unsupported type; pass arrays, "
      "variables, numbers, cq::static_<N>, shapes, or tuples and aggregates of these (a model "
      "is a struct template: template <template <class, int> class A> struct model { A<float, "
      "2> w; }; with std::array in place of C arrays)");
  return argument_type<X>;
}

/// Arrays of a result; none of `void`.
template <class X>
constexpr int count_results() {
  if constexpr (std::is_void_v<X>) return 0;
  else return count_leaves<X>();
}

/// Refuses numbers that no call of signature `S` can do with.
template <class S, class... A>
void check_numbers_of([[maybe_unused]] const A&... args) {
  if constexpr (S::has_limits) {
    const request_frame<S::leaf_count> frame(args...);
    check_limits(S::unchanged(), frame.leaves());
  }
}

}  // namespace detail

/// A traced function: an empty object; see `trace`.
template <class F, int PassLevel>
struct traced {
  /// Calls f. With arrays: plans for new sizes, replays, and returns arrays in the structure that f
  /// returned. With symbols, inside another traced function: f's operations become part of that
  /// trace.
  ///
  /// Throws `shape_error`, `alias_error`, `value_error`, `out_of_memory`; arguments and variables
  /// are then as before.
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    if constexpr ((detail::holds_symbols<A>::value || ...)) {
      static_assert(!(detail::holds_real<A> || ...), CALQUE_MIXED);
      return F{}(args...);
    } else if constexpr ((detail::check_argument<A>() && ...)) {
      return call(args...);
    }
  }

  /// The same, and takes down what each step did when; see `record`.
  template <class... A>
  auto operator()(record& into, const A&... args) const {
    static_assert((detail::check_argument<A>() && ...));
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    detail::check_numbers_of<S>(args...);
    return call_by<S>(detail::recorded_replay{into}, args...);
  }

  /// Calls f and writes its results into existing arrays: one array, `cq::outs(a, b)`, or an
  /// aggregate of arrays in the structure of f's result. Nothing is allocated, but for arrays that
  /// are not allocated yet, and for storage shared with other handles, which is detached first. An
  /// out may overlap an argument: that is read first. Outs that overlap each other throw
  /// `alias_error`, other extents than the result's `shape_error`.
  template <class Out, class... A>
  void into(Out&& out, const A&... args) const {
    static_assert((detail::check_argument<A>() && ...));
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    static_assert(!std::is_void_v<typename S::result>,
                  "f.into(out, ...): f returns nothing; call it as f(...)");
    if constexpr (detail::check_outs<typename S::result, std::remove_reference_t<Out>>()) {
      detail::check_numbers_of<S>(args...);
      bool missing = false;
      detail::for_each_out(out, [&](const auto& a) { missing = missing || !a.is_allocated(); });
      if (missing) into_missing(out, args...);
      else into_existing(out, args...);
    }
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
  template <std::integral I>
  void plan_limit(std::int64_t, I) const {
    static_assert(detail::never<I>,
                  "f.plan_limit(count, bytes): sizes are typed; write cq::bytes{n}, or 64_MiB with "
                  "cq::literals");
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
  template <class... A>
  static auto call(const A&... args) {
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    using usual = detail::usual_call<S, false>;
    detail::check_numbers_of<S>(args...);
    if constexpr (usual::possible) {
      usual c;
      c.arguments(args...);
      if (c.usual()) [[likely]] {
        if (plan_use lease = S::cache().use_known(c.key())) [[likely]]
          return with_results<S>(
              *lease, [&](int k, void* data) { c.result(k, data); }, [&] { run_usual(lease, c); });
      }
    }
    return call_by<S>(detail::plain_replay{}, args...);
  }
  template <class S, class Replay, class... A>
  [[gnu::noinline]] static auto call_by(Replay replay, const A&... args) {
    detail::request_frame<S::leaf_count> frame(args...);
    plan_use lease = S::cache().use({frame.leaves(), S::leaf_count, nullptr, 0});
    void* data[detail::count_results<typename S::result>() + 1];
    return with_results<S>(
        *lease, [&](int k, void* to) { data[k] = to; },
        [&] { detail::run_plan<S>(lease, frame, data, replay); });
  }
  template <class Usual>
  static void run_usual(plan_use& lease, Usual& c) {
    detail::replay_use(*lease, c.slots(), Usual::slot_count);
    lease.ran();
  }
  /// Allocates the results of a plan, tells their addresses, runs, and returns them.
  template <class S, class Tell, class Run>
  static auto with_results([[maybe_unused]] const calque::plan& p, [[maybe_unused]] Tell tell,
                           Run run) {
    if constexpr (std::is_void_v<typename S::result>) {
      run();
    } else {
      detail::arrays_of<typename S::result> r{};
      int k = 0;
      detail::for_each_out(r, [&](auto& a) {
        allocate(a, p, k);
        tell(k++, detail::prepare_write(a, detail::contents::discard));
      });
      run();
      return r;
    }
  }
  /// Gives an array the extents of result `k`.
  template <class T, int Rank>
  static void allocate(array<T, Rank>& a, const calque::plan& p, int k) {
    if (p.result_place(k) != nullptr) [[unlikely]]
      return allocate_there(a, p, k);
    if constexpr (Rank > 0) a = array<T, Rank>::uninitialised(shape_of<Rank>(p, k));
  }
  /// The same on another device than the host.
  template <class T, int Rank>
  [[gnu::noinline]] static void allocate_there(array<T, Rank>& a, const calque::plan& p, int k) {
    a = array<T, Rank>::uninitialised(shape_of<Rank>(p, k), p.result_place(k));
  }
  template <int Rank>
  static calque::shape<Rank> shape_of(const calque::plan& p, int k) {
    std::array<std::int64_t, Rank> e{};
    std::copy_n(p.result_extents(k), Rank, e.begin());
    return calque::shape<Rank>(e);
  }
  template <class Out, class... A>
  static void into_existing(Out& out, const A&... args) {
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    using usual = detail::usual_call<S, true>;
    if constexpr (usual::possible) {
      usual c;
      detail::for_each_out(out, [&](auto& a) {
        c.destination(a, detail::prepare_write(a, detail::contents::keep));
      });
      c.arguments(args...);  // after detaching: an out may be an argument
      if (c.usual()) [[likely]] {
        if (plan_use lease = S::cache().use_known(c.key())) [[likely]]
          return run_usual(lease, c);
      }
    }
    into_unusual<S>(out, args...);
  }
  template <class S, class Out, class... A>
  [[gnu::noinline]] static void into_unusual(Out& out, const A&... args) {
    constexpr int count = detail::count_leaves<typename S::result>();
    output o[count + 1];
    void* data[count + 1];
    int k = 0;
    detail::for_each_out(out, [&](auto& a) {
      data[k] = detail::prepare_write(a, detail::contents::keep);
      o[k] = {detail::array_access::extents(a), detail::array_access::strides(a), data[k],
              detail::array_access::place(a)};
      ++k;
    });
    detail::request_frame<S::leaf_count> frame(
        args...);  // after detaching: an out may be an argument
    plan_use lease = S::cache().use({frame.leaves(), S::leaf_count, o, count});
    detail::run_plan<S>(lease, frame, data, detail::plain_replay{});
  }
  /// Allocates the outs that are not yet; they stay unallocated if the call throws.
  template <class Out, class... A>
  static void into_missing(Out& out, const A&... args) {
    using S = detail::signature<F, PassLevel, detail::key_of<A>...>;
    constexpr int count = detail::count_leaves<typename S::result>();
    bool made[count + 1]{};
    int k = 0;
    const auto undo = [&] {
      k = 0;
      detail::for_each_out(out, [&]<class T, int R>(array<T, R>& a) {
        if (made[k++]) a = array<T, R>{};
      });
    };
    try {
      const detail::request_frame<S::leaf_count> frame(args...);
      const plan_lease lease = S::cache().find({frame.leaves(), S::leaf_count, nullptr, 0});
      detail::for_each_out(out, [&](auto& a) {
        if (!a.is_allocated()) {
          allocate(a, *lease, k);
          made[k] = true;
        }
        ++k;
      });
      into_existing(out, args...);
    } catch (...) {
      undo();
      throw;
    }
  }
};

/// Wraps a captureless function of arrays, variables and numbers. The compiler traces it once for
/// each list of argument types; the first call with new sizes plans, later ones replay.
///
///   inline constexpr auto f = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
///   cq::array<float, 1> z = f(x, y, 2.f);
template <options O = options{}, class F>
[[nodiscard]] constexpr auto trace(F) {
  static_assert(!std::is_pointer_v<F>,
                "cq::trace(f): f is a pointer to a function; wrap it: [](auto x) { return f(x); }");
  static_assert(
      std::is_pointer_v<F> || detail::captureless<F>,
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

  pass_report reports_[6]{};
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
  static_assert((detail::check_argument<A>() && ...));
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
