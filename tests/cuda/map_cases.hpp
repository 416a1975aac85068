// Runs one elementwise program three ways over operands of any layout, and compares every byte: the
// GPU's kernel, the CPU back end's, and a plain loop. Shared by the nvcc test and the stand-in's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "calque/backend/cpu/map.hpp"
#include "calque/backend/cuda/map.cuh"
#include "calque/ops/cast.hpp"
#include "calque/ops/logic.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"

namespace map_cases {

using calque::dtype;
using calque::ins;
using calque::load;
using calque::program;
using calque::splat;
using calque::store;
namespace op = calque::op;

/// An operand's strides over the domain, and how many elements past an aligned address it starts.
/// No strides: row-major.
struct layout {
  std::vector<std::int64_t> strides{};
  std::int64_t shift = 0;
};

/// Memory that host and device both reach, filled with a pattern, with some room at both ends.
class block {
 public:
  block(std::int64_t low, std::int64_t high, int bytes, std::int64_t shift)
      : size_((high - low + 1 + shift) * bytes), start_((shift - low) * bytes) {
    calque::detail::check_cuda(
        cudaMallocManaged(&memory_, static_cast<std::size_t>(size_), cudaMemAttachGlobal),
        "cudaMallocManaged");
    std::memset(memory_, 0xa5, static_cast<std::size_t>(size_));
  }
  block(block&& b) noexcept : size_(b.size_), start_(b.start_), memory_(b.memory_) {
    b.memory_ = nullptr;
  }
  block(const block&) = delete;
  ~block() { cudaFree(memory_); }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] unsigned char* begin() const { return static_cast<unsigned char*>(memory_); }
  /// The operand's first element.
  [[nodiscard]] void* first() const { return begin() + start_; }

 private:
  std::int64_t size_, start_;
  void* memory_ = nullptr;
};

template <class P>
struct types_of;
template <class... I>
struct types_of<program<I...>> {
  std::vector<dtype> of =
      std::vector<dtype>(calque::detail::operands_of<program<I...>>.count, dtype::none);
  types_of() { (put(I{}), ...); }

 private:
  template <int K, class T>
  void put(load<K, T>) {
    of[K] = calque::dtype_of<T>;
  }
  template <int K, class T>
  void put(splat<K, T>) {
    of[K] = calque::dtype_of<T>;
  }
  template <int K, class T, int Src>
  void put(store<K, T, Src>) {
    of[K] = calque::dtype_of<T>;
  }
  template <class Other>
  void put(Other) {}
};

/// One element's operands, for the plain loop.
struct element {
  const std::vector<unsigned char*>& at;
  template <class T>
  T in(int k) const {
    T v;
    std::memcpy(&v, at[static_cast<std::size_t>(k)], sizeof(T));
    return v;
  }
  template <class T>
  void out(int k, T v) const {
    std::memcpy(at[static_cast<std::size_t>(k)], &v, sizeof(T));
  }
};

/// Small numbers, exact in every type and under every contraction.
inline void fill(const block& b, dtype t, int k) {
  const int bytes = calque::size_of(t);
  const std::int64_t n = b.size() / bytes;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t v = (j * 7 + k * 3) % 13 - (calque::is_unsigned_integer(t) ? 0 : 5);
    calque::detail::visit_dtype<bool>(t, [&]<class T>(T) {
      const T x = static_cast<T>(std::is_same_v<T, bool> ? j % 3 == 0 : v);
      std::memcpy(b.begin() + j * bytes, &x, sizeof(T));
      return true;
    });
  }
}

/// The same bytes; floats within `ulps`, and any NaN like any other.
template <class T, class Bits>
bool close_as(const unsigned char* a, const unsigned char* b, std::int64_t bytes, int ulps) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); i += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a + i, sizeof(T));
    std::memcpy(&y, b + i, sizeof(T));
    if (x != x && y != y) continue;
    Bits p, q;
    std::memcpy(&p, &x, sizeof(T));
    std::memcpy(&q, &y, sizeof(T));
    const Bits apart = p < q ? q - p : p - q;
    if (apart > static_cast<Bits>(ulps)) return false;
  }
  return true;
}
inline bool close(const unsigned char* a, const unsigned char* b, std::int64_t bytes, dtype t,
                  int ulps) {
  if (std::memcmp(a, b, static_cast<std::size_t>(bytes)) == 0) return true;
  if (t == dtype::float32) return close_as<float, std::uint32_t>(a, b, bytes, ulps);
  if (t == dtype::float64) return close_as<double, std::uint64_t>(a, b, bytes, ulps);
  return false;
}

/// "" where all three ways agree, else what differs.
template <class... I, class Reference>
std::string disagreement(program<I...> p, const std::vector<std::int64_t>& extents,
                         std::vector<layout> layouts, Reference reference, int ulps = 0) {
  using P = program<I...>;
  constexpr calque::detail::operand_uses uses = calque::detail::operands_of<P>;
  const std::vector<dtype> types = types_of<P>().of;
  const int rank = static_cast<int>(extents.size());
  layouts.resize(uses.count);

  calque::geometry g;
  g.rank = rank;
  g.size = 1;
  for (int a = 0; a < rank; ++a) {
    g.extents[a] = extents[static_cast<std::size_t>(a)];
    g.size *= g.extents[a];
  }
  std::vector<calque::operand_layout> operands(uses.count);
  std::vector<block> shared, by_cpu, by_plain;
  std::vector<void*> gpu_data, cpu_data, plain_data;
  for (int k = 0; k < uses.count; ++k) {
    const std::size_t at = static_cast<std::size_t>(k);
    calque::operand_layout& o = operands[at];
    layout& l = layouts[at];
    o.type = types[at];
    std::int64_t expected = 1, low = 0, high = 0;
    o.linear = true;
    std::vector<std::int64_t> strides(extents.size());
    for (int a = rank - 1; a >= 0; --a) {
      const std::size_t i = static_cast<std::size_t>(a);
      strides[i] = uses.of[k].uniform ? 0 : l.strides.empty() ? expected : l.strides[i];
      if (g.extents[a] != 1 && strides[i] != expected) o.linear = false;
      expected *= g.extents[a];
      o.strides[a] = strides[i];
      const std::int64_t reach = g.extents[a] > 0 ? strides[i] * (g.extents[a] - 1) : 0;
      (reach < 0 ? low : high) += reach;
    }
    const int bytes = calque::size_of(o.type);
    shared.emplace_back(low, high, bytes, l.shift);
    if (!uses.of[k].output) fill(shared.back(), o.type, k);
    gpu_data.push_back(shared.back().first());
    if (uses.of[k].output) {
      ++g.outputs;
      by_cpu.emplace_back(low, high, bytes, l.shift);
      by_plain.emplace_back(low, high, bytes, l.shift);
      cpu_data.push_back(by_cpu.back().first());
      plain_data.push_back(by_plain.back().first());
    } else {
      ++g.inputs;
      cpu_data.push_back(gpu_data.back());
      plain_data.push_back(gpu_data.back());
    }
  }
  g.kept = rank;
  g.kept_size = g.size;
  g.operands = operands.data();

  calque::detail::launch_map_cuda(p, g, gpu_data.data(), nullptr);
  calque::detail::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<std::byte> scratch(static_cast<std::size_t>(calque::detail::map_scratch(g)) + 64);
  calque::detail::launch_map<P>(g, cpu_data.data(), scratch.data());

  std::vector<std::int64_t> index(extents.size(), 0);
  for (std::int64_t i = 0; i < g.size; ++i) {
    std::int64_t rest = i;
    for (int a = rank - 1; a >= 0; --a) {
      index[static_cast<std::size_t>(a)] = rest % g.extents[a];
      rest /= g.extents[a];
    }
    std::vector<unsigned char*> at;
    for (int k = 0; k < uses.count; ++k) {
      std::int64_t offset = 0;
      const calque::operand_layout& o = operands[static_cast<std::size_t>(k)];
      for (int a = 0; a < rank; ++a) offset += index[static_cast<std::size_t>(a)] * o.strides[a];
      at.push_back(static_cast<unsigned char*>(plain_data[static_cast<std::size_t>(k)]) +
                   offset * calque::size_of(o.type));
    }
    reference(element{at});
  }

  std::size_t out = 0;
  for (int k = 0; k < uses.count; ++k) {
    if (!uses.of[k].output) continue;
    const block &gpu = shared[static_cast<std::size_t>(k)], &cpu = by_cpu[out],
                &plain = by_plain[out];
    ++out;
    const dtype t = types[static_cast<std::size_t>(k)];
    const std::string which =
        "operand " + std::to_string(k) + " of " + std::to_string(g.size) + " elements: ";
    if (!close(gpu.begin(), plain.begin(), gpu.size(), t, ulps))
      return which + "the GPU's kernel differs from a plain loop";
    if (!close(cpu.begin(), plain.begin(), cpu.size(), t, ulps))
      return which + "the CPU's kernel differs from a plain loop";
  }
  return "";
}

// a * x + y; a is uniform.
template <class T>
using axpy = program<splat<0, T>, load<1, T>, load<2, T>, ins<op::mul, T, T, 0, 1>,
                     ins<op::add, T, T, 3, 2>, store<3, T, 4>>;
template <class T>
void axpy_plain(const element& e) {
  e.out<T>(3, static_cast<T>(e.in<T>(0) * e.in<T>(1) + e.in<T>(2)));
}

// Three outputs of three types: x + y, x < y, and where(p, x, y) as double.
template <class T>
using three =
    program<load<0, T>, load<1, T>, load<2, bool>, ins<op::add, T, T, 0, 1>,
            ins<op::less, bool, T, 0, 1>, ins<op::where, T, T, 2, 0, 1>,
            ins<op::cast, double, T, 5>, store<3, T, 3>, store<4, bool, 4>, store<5, double, 6>>;
template <class T>
void three_plain(const element& e) {
  const T x = e.in<T>(0), y = e.in<T>(1);
  e.out<T>(3, static_cast<T>(x + y));
  e.out<bool>(4, x < y);
  e.out<double>(5, static_cast<double>(e.in<bool>(2) ? x : y));
}

// tanh(exp(-abs(x))): library functions, so some ulps apart.
using smooth =
    program<load<0, float>, ins<op::abs, float, float, 0>, ins<op::neg, float, float, 1>,
            ins<op::exp, float, float, 2>, ins<op::tanh, float, float, 3>, store<1, float, 4>>;
inline void smooth_plain(const element& e) {
  e.out<float>(1, static_cast<float>(std::tanh(std::exp(-std::fabs(double{e.in<float>(0)})))));
}

// More functions of one and two operands, each of a moderate argument t in (0, 1], so that no step
// magnifies the errors of the one before; some ulps apart.
using functions =
    program<load<0, float>, ins<op::abs, float, float, 0>, ins<op::neg, float, float, 1>,
            ins<op::sigmoid, float, float, 2>, ins<op::sin, float, float, 3>,
            ins<op::erf, float, float, 3>, ins<op::pow, float, float, 4, 5>,
            ins<op::log1p, float, float, 6>, ins<op::atan2, float, float, 7, 3>,
            ins<op::expm1, float, float, 8>, ins<op::rsqrt, float, float, 9>,
            ins<op::cos, float, float, 3>, ins<op::tan, float, float, 3>,
            ins<op::add, float, float, 11, 12>, store<1, float, 10>, store<2, float, 13>>;
inline void functions_plain(const element& e) {
  const double t = 1 / (1 + std::exp(std::fabs(double{e.in<float>(0)})));
  const double a = std::atan2(std::log1p(std::pow(std::sin(t), std::erf(t))), t);
  e.out<float>(1, static_cast<float>(1 / std::sqrt(std::expm1(a))));
  e.out<float>(2, static_cast<float>(std::cos(t) + std::tan(t)));
}

// Rounding, kinds of numbers, bits and remainders: exact.
using exact =
    program<load<0, float>, ins<op::floor, float, float, 0>, ins<op::ceil, float, float, 0>,
            ins<op::round, float, float, 0>, ins<op::sign, float, float, 0>,
            ins<op::add, float, float, 1, 2>, ins<op::add, float, float, 3, 4>,
            ins<op::sub, float, float, 5, 6>, ins<op::fmod, float, float, 7, 0>,
            ins<op::isfinite, bool, float, 8>, load<1, std::int32_t>, load<2, std::int32_t>,
            ins<op::remainder, std::int32_t, std::int32_t, 10, 11>,
            ins<op::shift_left, std::int32_t, std::int32_t, 12, 11>,
            ins<op::shift_right, std::int32_t, std::int32_t, 10, 11>,
            ins<op::bitwise_xor, std::int32_t, std::int32_t, 13, 14>,
            ins<op::bitwise_not, std::int32_t, std::int32_t, 15>,
            ins<op::bitwise_and, std::int32_t, std::int32_t, 16, 10>, store<3, bool, 9>,
            store<4, float, 7>, store<5, std::int32_t, 17>>;
inline void exact_plain(const element& e) {
  const float x = e.in<float>(0), s = x > 0 ? 1.f : x < 0 ? -1.f : x;
  const float d = (std::floor(x) + std::ceil(x)) - (std::nearbyint(x) + s);
  e.out<float>(4, d);
  e.out<bool>(3, std::isfinite(std::fmod(d, x)));
  const std::int64_t a = e.in<std::int32_t>(1), b = e.in<std::int32_t>(2);
  const std::int64_t rest = b == 0 ? a : a % b;
  const bool far = b < 0 || b > 31;
  const std::int64_t left = far ? 0 : rest * (std::int64_t{1} << b);
  const std::int64_t right = far ? (a < 0 ? -1 : 0) : a >> b;
  e.out<std::int32_t>(5, static_cast<std::int32_t>(~(left ^ right) & a));
}

// exp of a uniform operand's cast, times bool: everything before the product is computed once.
using once =
    program<splat<0, std::int32_t>, ins<op::cast, double, std::int32_t, 0>,
            ins<op::mul, double, double, 1, 1>, load<1, bool>, ins<op::cast, double, bool, 3>,
            ins<op::mul, double, double, 2, 4>, store<2, double, 5>>;
inline void once_plain(const element& e) {
  const double a = e.in<std::int32_t>(0);
  e.out<double>(2, a * a * (e.in<bool>(1) ? 1. : 0.));
}

// Every other operation, where the results are exact: on integers that divide by zero now and then,
// and through narrowing and saturating casts.
using mixed = program<
    load<0, std::int32_t>, load<1, std::int32_t>, ins<op::div, std::int32_t, std::int32_t, 0, 1>,
    ins<op::sub, std::int32_t, std::int32_t, 2, 1>,
    ins<op::minimum, std::int32_t, std::int32_t, 3, 0>,
    ins<op::maximum, std::int32_t, std::int32_t, 4, 2>, ins<op::cast, float, std::int32_t, 5>,
    load<2, float>, ins<op::div, float, float, 6, 7>, ins<op::sqrt, float, float, 8>,
    ins<op::cast, std::int8_t, float, 8>, ins<op::greater_equal, bool, float, 9, 7>,
    ins<op::not_equal, bool, float, 6, 7>, ins<op::equal, bool, bool, 11, 12>, store<3, float, 9>,
    store<4, std::int8_t, 10>, store<5, bool, 13>>;
inline void mixed_plain(const element& e) {
  const std::int32_t x = e.in<std::int32_t>(0), y = e.in<std::int32_t>(1);
  const std::int32_t q = y == 0 ? 0 : x / y, smaller = std::min(q - y, x);
  const float a = static_cast<float>(std::max(smaller, q)), b = e.in<float>(2), d = a / b;
  e.out<float>(3, std::sqrt(d));
  e.out<std::int8_t>(
      4, std::isnan(d) ? std::int8_t{0} : static_cast<std::int8_t>(std::clamp(d, -128.f, 127.f)));
  e.out<bool>(5, (std::sqrt(d) >= b) == (a != b));
}

inline const std::vector<std::int64_t> sizes = {0, 1, 2, 7, 8, 9, 31, 32, 33, 1023, 1025, 100003};

/// All cases; `report` is given a name and the disagreement, if any.
template <class Report>
void run_all(Report report) {
  for (const std::int64_t n : sizes) {
    for (std::int64_t shift = 0; shift < (n > 2000 ? 1 : 3); ++shift) {
      const std::vector<layout> shifted(6, {{}, shift});
      const auto line = [&](const char* name, auto p, auto plain, int ulps = 0) {
        report(name, disagreement(p, {n}, shifted, plain, ulps));
      };
      line("axpy f32", axpy<float>{}, axpy_plain<float>);
      line("axpy f64", axpy<double>{}, axpy_plain<double>);
      line("axpy i32", axpy<std::int32_t>{}, axpy_plain<std::int32_t>);
      line("axpy i8", axpy<std::int8_t>{}, axpy_plain<std::int8_t>);
      line("three outputs f32", three<float>{}, three_plain<float>);
      line("three outputs i32", three<std::int32_t>{}, three_plain<std::int32_t>);
      line("exp and tanh", smooth{}, smooth_plain, 8);
      line("functions", functions{}, functions_plain, 16);
      line("rounding and bits", exact{}, exact_plain);
      line("mixed types", mixed{}, mixed_plain, 1);
      line("uniform part", once{}, once_plain);
    }
    report("one operand apart",
           disagreement(axpy<float>{}, {n}, {{}, {}, {{}, 1}}, axpy_plain<float>));
    report("reversed and doubled",
           disagreement(axpy<float>{}, {n}, {{}, {{-1}, 0}, {{2}, 0}}, axpy_plain<float>));
    report("strided outputs",
           disagreement(three<float>{}, {n}, {{}, {}, {}, {{3}, 0}, {{-2}, 0}, {{1}, 0}},
                        three_plain<float>));
  }
  const std::int64_t m = 37, n = 53, r = 5;
  const auto matrix = [&](const char* name, std::vector<layout> l) {
    report(name, disagreement(axpy<float>{}, {m, n}, l, axpy_plain<float>));
    report(name, disagreement(axpy<std::int8_t>{}, {m, n}, l, axpy_plain<std::int8_t>));
    report(name, disagreement(axpy<double>{}, {r, m, n},
                              {{}, {{m * n, n, 1}, 0}, {{0, 0, 1}, 0}, {{1, r * n, r}, 0}},
                              axpy_plain<double>));
  };
  matrix("row broadcast", {{}, {}, {{0, 1}, 0}, {}});
  matrix("column broadcast", {{}, {{1, 0}, 0}, {}, {}});
  matrix("transposed input", {{}, {{1, m}, 0}, {}, {}});
  matrix("transposed output", {{}, {}, {}, {{1, m}, 0}});
  matrix("padded rows", {{}, {{n + 11, 1}, 0}, {}, {{n + 2, 1}, 1}});
  report("rank 0", disagreement(axpy<float>{}, {}, {}, axpy_plain<float>));
  report("extent 1",
         disagreement(axpy<float>{}, {1, 9, 1}, {{}, {{77, 1, 5}, 0}}, axpy_plain<float>));
  report("an empty axis", disagreement(axpy<float>{}, {3, 0}, {}, axpy_plain<float>));
  report("rank 8", disagreement(axpy<float>{}, {2, 3, 1, 2, 2, 3, 2, 2},
                                {{}, {{0, 1, 3, 0, 3, 6, 0, 18}, 0}}, axpy_plain<float>));
}

}  // namespace map_cases
