// Runs random functions: fused against unfused against the interpreter, to the bit; counts what
// occurred.
//
// Functions register themselves from several source files, so that no file takes long to compile;
// one test runs them all.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "calque/calque.hpp"
#include "support/cluster_rules.hpp"
#include "support/interpreter.hpp"
#include "support/random_function.hpp"
#include "support/reference.hpp"

namespace calque::test {

/// What occurred in all runs.
struct occurrences {
  std::map<std::string, int> operations;  // of graphs with derivatives expanded
  fold_counts folded;
  int merged = 0, removed = 0;
  std::map<std::string, int> clusters;
  int ranks[5]{}, empty = 0, ones = 0, several_results = 0, effects = 0;
};

struct registered_function {
  std::uint64_t seed;
  void (*run)(occurrences&);
};
inline std::vector<registered_function>& registered_functions() {
  static std::vector<registered_function> all;
  return all;
}

template <class T, int R>
[[nodiscard]] tensor tensor_of(const array<T, R>& a) {
  using E = std::remove_const_t<T>;
  tensor t{dtype_of<E>, {}, {}};
  for (std::int64_t e : a.shape()) t.shape.push_back(e);
  for (E v : a.to_vector()) t.data.push_back(calque::detail::make_constant<E>(v));
  return t;
}

template <std::uint64_t Seed>
class function_run {
  using body = random_function<Seed>;
  using drawn_args = drawn_arguments<Seed>;
  template <int I>
  using array_at = array<type_of<drawn_args::types[I]>, drawn_args::shapes[I].rank>;
  template <int I>
  using view_at = array<const type_of<drawn_args::types[I]>, drawn_args::shapes[I].rank>;
  template <int I>
  using variable_at = variable<type_of<drawn_args::types[I]>, drawn_args::shapes[I].rank>;
  static constexpr auto fused = trace(body{});
  static constexpr auto plain = trace<options{.pass_level = 0}>(body{});
  template <int Level>
  using graphs = pipeline<
      calque::detail::trace_source<body, array<float, 2>, array_at<0>, array_at<1>, array_at<2>,
                                   variable_at<3>, variable_at<4>, float, std::int64_t, bool>,
      Level>;
  using stages = graphs<2>;

 public:
  static void run(occurrences& o) {
    INFO("seed ", Seed);
    count(o);
    std::mt19937_64 random(Seed + 1);
    constexpr std::int64_t sizes[][2] = {{3, 5}, {1, 6}, {8, 1}, {5, 5},
                                         {9, 7}, {0, 3}, {4, 0}, {1, 1}};
    for (const auto& size : sizes) {
      const std::int64_t n = size[0], m = size[1];
      if (n * m == 0 && has_extremes()) continue;  // there are none of nothing
      INFO("n = ", n, ", m = ", m);
      o.empty += n * m == 0;
      o.ones += n == 1 || m == 1;
      call(n, m, random);
    }
  }

 private:
  static bool has_extremes() {
    for (int i = 0; i < stages::traced::view().node_count; ++i) {
      const std::string name = stages::traced::view().nodes[i].op->name;
      if (name == "max" || name == "min" || name == "argmax" || name == "argmin") return true;
    }
    return false;
  }
  template <class T>
  static T element(std::mt19937_64& random) {
    constexpr double special[] = {0.0,
                                  -0.0,
                                  1e20,
                                  -1e-30,
                                  3e38,
                                  std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN(),
                                  -7.25};
    const auto bits = random();
    if constexpr (std::is_same_v<T, bool>) return bits % 2 == 0;
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(bits % 29 == 0 ? special[bits / 29 % 8]
                                           : static_cast<double>(bits / 29 % 33) * 0.25 - 4);
    else if (bits % 29 == 0)
      return bits / 29 % 2 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    else
      return static_cast<T>(static_cast<T>(bits / 29 % 17) - (std::is_signed_v<T> ? T(8) : T(0)));
  }
  /// The real extents of an argument's axes; a loose one is 1 half of the time.
  template <int R>
  static shape<R> extents(const axes& x, std::int64_t n, std::int64_t m, std::mt19937_64& random) {
    std::array<std::int64_t, R> e{};
    for (int i = 0; i < R; ++i) {
      const ax& a = x.of[i];
      e[static_cast<std::size_t>(i)] = a.loose && random() % 2 ? 1 : a.a ? n : a.b ? m : 1;
    }
    return shape<R>(e);
  }
  template <int I>
  static view_at<I> argument(std::int64_t n, std::int64_t m, std::mt19937_64& random) {
    using T = type_of<drawn_args::types[I]>;
    constexpr int rank = drawn_args::shapes[I].rank;
    const auto s = extents<rank>(drawn_args::shapes[I], n, m, random);
    return laid_out<T>(s, layouts[random() % 5], [&] { return element<T>(random); });
  }

  static void call(std::int64_t n, std::int64_t m, std::mt19937_64& random) {
    const auto base =
        laid_out<float>(shape{n, m}, layouts[random() % 5], [&] { return element<float>(random); });
    const auto a = argument<0>(n, m, random);
    const auto b = argument<1>(n, m, random);
    const auto c = argument<2>(n, m, random);
    const auto u = argument<3>(n, m, random).clone();
    const auto w = argument<4>(n, m, random).clone();
    const float s = element<float>(random);
    const auto k = static_cast<std::int64_t>(random() % 5);
    const bool p = random() % 2 == 0;

    interpreter oracle(graphs<0>::final::view(),
                       {tensor_of(base), tensor_of(a), tensor_of(b), tensor_of(c), tensor_of(u),
                        tensor_of(w), tensor_of(array<float, 0>(s)),
                        tensor_of(array<std::int64_t, 0>(k)), tensor_of(array<bool, 0>(p))});
    const std::vector<tensor> expected = oracle.run();
    const auto compare = [&](const auto& f, const char* how) {
      const variable_at<3> v0{u};
      const variable_at<4> v1{w};
      const auto results = f(base, a, b, c, v0, v1, s, k, p);
      INFO(std::string(how));
      std::size_t i = 0;
      const auto one = [&](const auto& r) {
        CHECK_MESSAGE(same_values(tensor_of(r), expected[i]), "result " << i);
        ++i;
      };
      std::apply([&](const auto&... r) { (one(r), ...); }, results);
      CHECK_MESSAGE(same_values(tensor_of(v0.value()), oracle.arguments()[4]), "variable 0");
      CHECK_MESSAGE(same_values(tensor_of(v1.value()), oracle.arguments()[5]), "variable 1");
    };
    compare(plain, "unfused");
    compare(fused, "fused");
    compare(fused, "fused, replayed");
  }

  static void count(occurrences& o) {
    const graph_view g = stages::expanded::view(), traced = stages::traced::view();
    for (int i = 0; i < g.node_count; ++i) {
      ++o.operations[g.nodes[i].op->name];
      ++o.ranks[g.nodes[i].rank < 4 ? g.nodes[i].rank : 4];
      o.effects += g.kind(i) == op_kind::assign;
    }
    for (int i = 0; i < traced.node_count; ++i)
      if (traced.kind(i) == op_kind::gradient || traced.kind(i) == op_kind::marker)
        ++o.operations[traced.nodes[i].op->name];
    (void)fold(g, &o.folded);
    o.merged += stages::folded::view().node_count - stages::merged::view().node_count;
    o.removed += stages::merged::view().node_count - stages::live::view().node_count;
    o.several_results += g.result_count() > 1;
    const graph_view f = stages::final::view();
    CHECK(verify(f) == nullptr);
    CHECK(cluster_rules(f).broken() == "");
    for (int i = 0; i < f.cluster_count; ++i) {
      const cluster& c = f.clusters[i];
      const bool body = c.root >= 0 && f.pool[c.first] < c.root;
      const bool tail = c.root >= 0 && f.pool[c.first + c.nodes - 1] > c.root;
      ++o.clusters[c.kind == cluster_kind::rows ? "rows"
                   : c.root < 0                 ? "map"
                   : body                       ? "reduce with body"
                                                : "reduce alone"];
      if (c.outputs > 1) ++o.clusters["several outputs"];
      if (tail) ++o.clusters["tail"];
      if (c.assumptions > 0) ++o.clusters["assumptions"];
      if (c.root >= 0 && f.kind(c.root) == op_kind::sum_to) ++o.clusters["sum_to"];
      if (f.nodes[f.pool[c.first]].region != 0) ++o.clusters["inside a region"];
    }
  }
};

/// Registers the functions of seeds First to First + sizeof...(I) - 1.
template <std::uint64_t First, std::uint64_t... I>
bool register_functions(std::integer_sequence<std::uint64_t, I...>) {
  (registered_functions().push_back({First + I, &function_run<First + I>::run}), ...);
  return true;
}

}  // namespace calque::test
