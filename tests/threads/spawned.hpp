// A thread system of plain std::threads, which every sanitizer understands, and a way to run a call
// with it on several threads and compare bits.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "calque/calque.hpp"

namespace spawned {

namespace cq = calque;

/// How often the system was asked, and for how many workers at most.
inline std::atomic<int> uses{0}, most_workers{0};

inline void run(int workers, void (*body)(void*, int), void* state) {
  ++uses;
  if (most_workers < workers) most_workers = workers;
  std::vector<std::thread> all;
  for (int w = 1; w < workers; ++w) all.emplace_back(body, state, w);
  body(state, 0);
  for (std::thread& t : all) t.join();
}
inline constexpr cq::thread_system system{"spawned", 0, &run};

/// Puts a system in use for a scope.
struct in_use {
  const cq::thread_system* before;
  explicit in_use(const cq::thread_system& s = system) : before(cq::use_thread_system(&s)) {
    uses = most_workers = 0;
  }
  in_use(const in_use&) = delete;
  in_use& operator=(const in_use&) = delete;
  ~in_use() { cq::use_thread_system(before); }
};

/// A result's elements as bits, arrays of a tuple one after the other.
template <class T, int R>
std::string bits_of(const cq::array<T, R>& a) {
  const cq::array<T, R> own = a.clone();
  return {reinterpret_cast<const char*>(own.data()), static_cast<std::size_t>(own.bytes())};
}
template <class... A>
std::string bits_of(const std::tuple<A...>& t) {
  return std::apply([](const auto&... a) { return (bits_of(a) + ...); }, t);
}

/// Numbers that lose their last bits in any other order of addition.
inline cq::array<float, 1> waves(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(static_cast<int>(i * 2654435761u % 20011) - 9973) * 0.37f;
  return cq::array<float, 1>(v);
}
inline cq::array<float, 2> waves(std::int64_t rows, std::int64_t columns) {
  return cq::reshape(waves(rows * columns), cq::shape{rows, columns}).clone();
}

/// `call()` gives the same bits with 1, 2 and 8 threads; 8 of them are used if `shared`.
template <class F>
void same_bits(const std::string& name, bool shared, const F& call) {
  INFO(name);
  const in_use threads;
  const std::string alone = bits_of(call());
  CHECK(uses == 0);
  for (const int n : {2, 8}) {
    INFO(n << " threads");
    const int before = uses;
    const cq::device_guard on{cq::cpu(0).with_threads(n)};
    CHECK((bits_of(call()) == alone));
    CHECK((uses > before) == shared);
  }
}

}  // namespace spawned
