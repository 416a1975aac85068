// A program with its own idea of common names, and types with their own operators, before every
// header: its names stay unambiguous, and our operators take only our types (C127).
#include <string>
#include <vector>

int sum(int a, int b) { return a + b; }
int sort(int a) { return a; }
int trace(int a) { return a; }
int matmul(int a) { return a; }
int clip(int a) { return a; }
int sign(int a) { return a; }
int relu(int a) { return a; }
int square(int a) { return a; }
int apply(int a) { return a; }
struct array {};
struct vector {};
struct shape {};
struct span {};
struct byte {};
struct device {};
struct variable {};
struct node {};
struct graph {};
template <class T>
struct integral {};
namespace core {
struct error {};
}  // namespace core

struct matrix {
  int value = 0;
  friend matrix operator+(matrix a, matrix b) { return {a.value * 10 + b.value}; }
  friend matrix operator*(int a, matrix b) { return {a * b.value}; }
};

#include "all_headers.hpp"

template <class A, class B>
concept addable = requires(A a, B b) { a + b; };
template <class A>
concept negatable = requires(A a) { -a; };
template <class A>
concept has_bits = requires(A a) { a & a; } || requires(A a) { ~a; } || requires(A a) { a << 1; };

static_assert(addable<matrix, matrix>);
static_assert(!addable<matrix, int>);
static_assert(!addable<std::vector<int>, int>);
static_assert(!addable<int, std::vector<float>>);
static_assert(!addable<std::string, int>);
static_assert(!negatable<matrix>);
static_assert(!negatable<std::vector<int>>);
static_assert(!has_bits<matrix>);
static_assert(!has_bits<std::vector<int>>);

int main() {
  const array a{};
  const vector v{};
  const shape s{};
  const span p{};
  const byte b{};
  const device d{};
  const variable w{};
  const node n{};
  const graph g{};
  const integral<int> i{};
  const core::error e{};
  (void)a, (void)v, (void)s, (void)p, (void)b, (void)d, (void)w, (void)n, (void)g, (void)i, (void)e;
  const matrix m = 2 * (matrix{1} + matrix{2});
  return sum(1, sort(trace(matmul(clip(sign(relu(square(apply(-1))))))))) + m.value - 24;
}
