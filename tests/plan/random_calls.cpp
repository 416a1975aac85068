// Random graphs, fused or not, called with results and arguments that overlap in memory, in an
// arena that is checked byte for byte.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "calque/graph/dump.hpp"
#include "calque/passes/cse.hpp"
#include "calque/passes/dce.hpp"
#include "calque/passes/fold.hpp"
#include "calque/passes/fuse.hpp"
#include "calque/run/plan_cache.hpp"
#include "run/cluster_kernels.hpp"
#include "support/effort.hpp"
#include "support/interpreter.hpp"
#include "support/placed.hpp"
#include "support/random_graph.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr std::uint64_t seeds = sanitized ? 400 : 1500;

struct counts {
  int exact = 0, shifted = 0, shared_variables = 0, clusters = 0, arenas = 0;
};

/// Arguments of one call in one block of bytes; results lie anywhere, also over arguments.
class overlapping_call {
 public:
  overlapping_call(const graph_view& g, std::vector<tensor>& arguments,
                   const std::vector<tensor>& results, std::mt19937_64& random, counts& seen)
      : arguments_(arguments), results_(results) {
    const detail::planning::graph_facts facts(g);
    std::size_t size = 0;
    const auto place = [&](std::size_t bytes) {
      const std::size_t at = size;
      size += (bytes + 63) / 64 * 64 + 64;
      return at;
    };
    std::vector<std::size_t> at, result_at;
    for (tensor& t : arguments) at.push_back(place(bytes_of(t)));
    for (int i = 0; i < g.argument_count; ++i)  // an array that shares a variable's memory
      for (int k = 0; k < g.argument_count; ++k) {
        const auto a = static_cast<std::size_t>(i), v = static_cast<std::size_t>(k);
        if (g.arguments[i].kind != argument_kind::array ||
            g.arguments[k].kind != argument_kind::variable || random() % 3 != 0 ||
            arguments[a].type != arguments[v].type || arguments[a].shape != arguments[v].shape)
          continue;
        at[a] = at[v];
        arguments[a] = arguments[v];
        ++seen.shared_variables;
        break;
      }
    std::vector<std::pair<std::size_t, std::size_t>> taken;  // bytes that results and writes need
    for (int w : facts.written) {
      const auto i = static_cast<std::size_t>(w);
      taken.emplace_back(at[i], at[i] + bytes_of(arguments[i]));
    }
    for (const tensor& r : results) {
      std::size_t where = place(bytes_of(r) + 64);
      const std::size_t bytes = bytes_of(r);
      for (int attempt = 0; attempt < 4; ++attempt) {
        const auto i = random() % at.size();
        if (g.arguments[i].kind == argument_kind::scalar ||
            g.arguments[i].kind == argument_kind::extents)
          continue;
        const auto element = static_cast<std::size_t>(size_of(r.type));
        const std::size_t shift = random() % 2 ? 0 : (1 + random() % 3) * element;
        const std::size_t low = at[i] + shift, high = low + bytes;
        bool free = true;
        for (const auto& [a, b] : taken) free &= high <= a || b <= low;
        // only over array and variable memory and the gap behind it
        if (!free || bytes + shift > bytes_of(arguments[i]) + 32) continue;
        where = low;
        ++(shift == 0 ? seen.exact : seen.shifted);
        break;
      }
      taken.emplace_back(where, where + bytes);
      result_at.push_back(where);
    }
    memory_.assign(size + 64, std::byte{0});
    base_ = memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const tensor& t = arguments[i];
      write(base_ + at[i], t);
      leaf l{.kind = g.arguments[i].kind,
             .type = t.type,
             .rank = t.rank(),
             .extents = t.shape.data(),
             .data = base_ + at[i]};
      if (l.kind == argument_kind::variable) l.identity = l.data;
      if (l.kind == argument_kind::extents) {
        l.rank = g.arguments[i].rank;
        l.extents = reinterpret_cast<const std::int64_t*>(base_ + at[i]);
      }
      leaves_.push_back(l);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      outputs_.push_back({results[k].shape.data(), nullptr, base_ + result_at[k]});
      addresses_.push_back(base_ + result_at[k]);
    }
  }
  [[nodiscard]] call_request request() const {
    return {leaves_.data(), static_cast<int>(leaves_.size()), outputs_.data(),
            static_cast<int>(outputs_.size())};
  }
  /// Runs with an arena full of `poison`; returns the arena, and checks its borders.
  std::vector<std::byte> run(const plan& p, std::byte poison) {
    const auto bytes = static_cast<std::size_t>(p.arena_bytes().count());
    std::vector<std::byte> all(bytes + 3 * 64, poison);
    std::byte* arena = all.data() + 64 + (64 - reinterpret_cast<std::uintptr_t>(all.data()) % 64);
    std::vector<void*> slots(static_cast<std::size_t>(detail::plan_access{p}.slots()));
    detail::replay_in(p, leaves_.data(), addresses_.data(), arena, slots.data());
    for (const std::byte* b = all.data(); b != arena; ++b) REQUIRE(*b == poison);
    for (const std::byte* b = arena + bytes; b != all.data() + all.size(); ++b)
      REQUIRE(*b == poison);
    return {arena, arena + bytes};
  }
  [[nodiscard]] tensor result(std::size_t k) const { return read(addresses_[k], results_[k]); }
  [[nodiscard]] tensor argument(std::size_t i) const {
    return read(leaves_[i].data, arguments_[i]);
  }

 private:
  static std::size_t bytes_of(const tensor& t) {
    return static_cast<std::size_t>(t.size() * size_of(t.type));
  }
  static void write(std::byte* to, const tensor& t) {
    for (std::size_t i = 0; i < t.data.size(); ++i)
      write_element(to + i * static_cast<std::size_t>(size_of(t.type)), t.type, t.data[i]);
  }
  static tensor read(const void* from, tensor like) {
    for (std::size_t i = 0; i < like.data.size(); ++i)
      like.data[i] = read_element(
          static_cast<const std::byte*>(from) + i * static_cast<std::size_t>(size_of(like.type)),
          like.type);
    return like;
  }

  const std::vector<tensor>& arguments_;
  const std::vector<tensor>& results_;
  std::vector<std::byte> memory_;
  std::byte* base_ = nullptr;
  std::vector<leaf> leaves_;
  std::vector<output> outputs_;
  std::vector<void*> addresses_;
};

bool repeats(const plan& p) { return !detail::plan_access{p}.straight(); }

void check(const graph& g, const random_graph& r, std::uint64_t seed, counts& seen) {
  const graph_view v = g.view();
  std::mt19937_64 random(seed);
  const harness::cluster_kernels kernels(v);
  for (int round = 0; round < 2; ++round) {
    std::vector<tensor> arguments = r.arguments;
    interpreter dry(v, arguments);
    const std::vector<tensor> like = dry.run();
    std::vector<std::byte> arenas[2];
    const std::uint64_t state = random();
    for (int pass = 0; pass < 2; ++pass) {
      std::mt19937_64 same(state);
      arguments = r.arguments;
      overlapping_call call(v, arguments, like, same, seen);
      interpreter oracle(v, arguments);
      const std::vector<tensor> expected = oracle.run();
      plan_cache cache(v, kernels.table());
      const plan_lease p = cache.find(call.request());
      INFO("round ", round, "\n", dump(v), p->dump());
      harness::cluster_kernels::runs() = 0;
      arenas[pass] = call.run(*p, pass == 0 ? std::byte{0xA5} : std::byte{0x5A});
      seen.clusters += harness::cluster_kernels::runs() > 0;
      for (std::size_t k = 0; k < expected.size(); ++k)
        REQUIRE(same_values(call.result(k), expected[k]));
      for (std::size_t i = 0; i < arguments.size(); ++i)
        if (v.arguments[i].kind == argument_kind::variable &&
            p->writes_variable(static_cast<int>(i)))
          REQUIRE(same_values(call.argument(i), oracle.arguments()[i]));
      if (pass == 0 || repeats(*p) || arenas[0].empty()) continue;
      ++seen.arenas;  // the last byte of the arena was written: its size is exact
      REQUIRE((arenas[0].back() != std::byte{0xA5} || arenas[1].back() != std::byte{0x5A}));
    }
  }
}

}  // namespace

TEST_CASE(
    "results over arguments, shared memory and reused arenas never change a value (C061, C062, "
    "C064, C065, C23)") {
  counts seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed ", seed);
    const random_graph r = make_random_graph(seed);
    check(r.g, r, seed, seen);
    const graph a = fold(r.g.view()), b = cse(a.view()), c = dce(b.view());
    check(fuse(c.view()), r, seed, seen);
  }
  CHECK(seen.exact > 100);
  CHECK(seen.shifted > 100);
  CHECK(seen.shared_variables > 20);
  CHECK(seen.clusters > 100);
  CHECK(seen.arenas > 100);
}
