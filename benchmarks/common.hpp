// What the benchmark programs share: rows, their contestants, a check that all of a row's
// contestants compute the same, and the floors that every program measures beside them
// (common.cpp).
//
// A benchmark's name is <row>/<contestant>, and a peer's has the flags of its build at the end:
// `axpy/calque`, `axpy/hand/plain`, `axpy/Eigen/native`. benchmarks/report reads these names, and
// the counters `bytes` and `flops` of one run.
#pragma once

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Memory that starts at a cache line, so that no contestant owes its speed to the heap.
template <class T>
class buffer {
 public:
  explicit buffer(std::int64_t n, T value = T{})
      : n_(n),
        data_(static_cast<T*>(
            std::aligned_alloc(64, (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64))) {
    for (std::int64_t i = 0; i < n; ++i) data_.get()[i] = value;
  }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return n_; }
  [[nodiscard]] std::span<T> span() const { return {data(), static_cast<std::size_t>(n_)}; }

 private:
  struct release {
    void operator()(T* p) const { std::free(p); }
  };
  std::int64_t n_;
  std::unique_ptr<T, release> data_;
};

inline buffer<float> noise(std::int64_t n, unsigned seed, float least = -1, float most = 1) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> uniform(least, most);
  buffer<float> b(n);
  for (float& x : b.span()) x = uniform(random);
  return b;
}

/// What one run has to move and to compute at least; the floor of a row is the slower of the two.
struct work {
  double bytes = 0, flops = 0;
};

/// One row of the table. The first contestant added is the reference: before another is timed, its
/// results are compared with the reference's, and it is left out with an error if they differ.
class row {
 public:
  row(std::string name, work w, std::vector<std::span<float>> outputs)
      : s_(std::make_shared<state>(state{std::move(name), w, std::move(outputs), {}, {}})) {}

  /// A contestant; `run` does the work once.
  template <class F>
  void add(const std::string& who, F run) const {
    if (!s_->reference) s_->reference = run;
    auto measure = [s = s_, run](benchmark::State& state) mutable {
      if (!s->agrees(run)) {
        state.SkipWithError("computes something else than the first contestant");
        return;
      }
      for (auto _ : state) {
        run();
        benchmark::ClobberMemory();
      }
      state.counters["bytes"] = s->w.bytes;
      state.counters["flops"] = s->w.flops;
    };
    benchmark::RegisterBenchmark((s_->name + "/" + who).c_str(), measure);
  }
  /// The peers of one build whose row this is.
  template <class Peers, class Operands>
  void add_peers(const Peers& peers, const char* build, const Operands& operands) const {
    for (const auto& p : peers)
      if (s_->name == p.row)
        add(std::string(p.who) + "/" + build, [run = p.run, &operands] { run(operands); });
  }

 private:
  struct state {
    std::string name;
    work w;
    std::vector<std::span<float>> outputs;
    std::function<void()> reference;
    std::vector<float> expected;

    std::vector<float> sample(const std::function<void()>& run) const {
      for (std::span<float> o : outputs)
        for (float& x : o) x = std::numeric_limits<float>::quiet_NaN();
      run();
      std::vector<float> v;
      for (std::span<float> o : outputs) {
        const std::size_t step = o.size() / 10'000 + 1;
        for (std::size_t i = 0; i < o.size(); i += step) v.push_back(o[i]);
        if (!o.empty()) v.push_back(o.back());
      }
      return v;
    }
    bool agrees(const std::function<void()>& run) {
      if (expected.empty()) expected = sample(reference);
      const std::vector<float> v = sample(run);
      float largest = 1e-6f;  // errors of sums are relative to the numbers that went in
      for (float x : expected) largest = std::fmax(largest, std::fabs(x));
      for (std::size_t i = 0; i < v.size(); ++i)
        if (!(std::fabs(v[i] - expected[i]) <= 1e-3f * std::fabs(expected[i]) + 1e-4f * largest))
          return false;
      return true;
    }
  };
  std::shared_ptr<state> s_;
};

/// Adds the floors and runs what was asked for on the command line.
int run(int argc, char** argv);

}  // namespace bench
