// A call's arguments as leaves: pointers into arrays, variables and numbers, without allocating.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "calque/array/variable.hpp"
#include "calque/plan/request.hpp"
#include "calque/trace/structure.hpp"

namespace calque::detail {

/// The argument type that a trace is keyed by: views, spans and vectors count as arrays.
template <class X>
struct key_type {
  using type = X;
};
template <class T, int R>
struct key_type<array<const T, R>> {
  using type = array<T, R>;
};
template <span_element T>
struct key_type<std::span<T>> {
  using type = array<std::remove_const_t<T>, 1>;
};
template <vector_element T>
struct key_type<std::vector<T>> {
  using type = array<T, 1>;
};
template <scalar_literal T>
struct key_type<T> {
  using type = scalar_element<T>;
};
template <class X>
using key_of = typename key_type<std::remove_cvref_t<X>>::type;

/// What a traced function can be called with.
template <class X>
concept argument_type = has_symbols<key_of<X>>;

/// The leaves of one call. Refers to the arguments, which outlive it.
template <int N>
class request_frame {
 public:
  template <class... A>
  explicit request_frame(const A&... args) {
    (for_each_leaf(args, [&](const auto& x) { add(x); }), ...);
  }

  [[nodiscard]] const leaf* leaves() const { return leaves_; }
  leaf& at(int k) { return leaves_[k]; }
  [[nodiscard]] bool initialised(int k) const { return !flags_[k] || *flags_[k]; }
  void mark_initialised(int k) {
    if (flags_[k]) *flags_[k] = true;
  }
  /// "variable 'w'", or "the variable of argument 2" for one without a name.
  [[nodiscard]] std::string variable_text(int k) const {
    const std::string name = leaves_[k].name;
    return name.empty() ? "the variable of argument " + std::to_string(k) : variable_label(name);
  }
  /// Detaches variable `k`'s memory from other handles before it is written.
  void prepare_write(int k) {
    if (detach_[k]) leaves_[k].data = detach_[k](states_[k]);
  }

 private:
  template <class T, int R>
  void add(const array<T, R>& a) {
    leaf& l = next(argument_kind::array, dtype_of<std::remove_const_t<T>>, R);
    l.extents = array_access::extents(a);
    l.strides = array_access::strides(a);
    l.data = const_cast<std::remove_const_t<T>*>(array_access::data(a));
    l.place = array_access::place(a);
  }
  template <class T>
  void add(const std::vector<T>& v) {
    add(std::span<const T>(v));
  }
  template <class T>
  void add(const std::span<T>& v) {
    leaf& l = next(argument_kind::array, dtype_of<std::remove_const_t<T>>, 1);
    std::int64_t& n = slots_[count_ - 1];
    n = static_cast<std::int64_t>(v.size());
    l.extents = &n;
    l.data = const_cast<std::remove_const_t<T>*>(v.data());
  }
  template <class T, int R>
  void add(const variable<T, R>& v) {
    variable_state<T, R>& s = variable_access::state(v);
    leaf& l = next(argument_kind::variable, dtype_of<T>, R);
    l.extents = array_access::extents(s.value);
    l.data = const_cast<T*>(array_access::data(s.value));
    l.place = array_access::place(s.value);
    l.identity = &s;
    l.name = s.name.c_str();
    flags_[count_ - 1] = &s.initialised;
    states_[count_ - 1] = &s;
    detach_[count_ - 1] = [](void* state) -> void* {
      return calque::detail::prepare_write(static_cast<variable_state<T, R>*>(state)->value);
    };
  }
  template <scalar_literal T>
  void add(const T& v) {
    using U = scalar_element<T>;
    leaf& l = next(argument_kind::scalar, dtype_of<U>, 0);
    const U u = static_cast<U>(v);
    std::memcpy(&slots_[count_ - 1], &u, sizeof(u));
    l.data = &slots_[count_ - 1];
  }
  template <int R>
  void add(const shape<R>& s) {
    leaf& l = next(argument_kind::extents, dtype::int64, R);
    l.extents = s.begin();
  }
  void add(const device& d) {
    leaf& l = next(argument_kind::device, dtype::none, 0);
    l.place = d.entry();
  }
  template <auto V>
  void add(const static_t<V>&) {}

  leaf& next(argument_kind kind, dtype type, int rank) {
    leaf& l = leaves_[count_];
    l.kind = kind;
    l.type = type;
    l.rank = rank;
    flags_[count_] = nullptr;
    detach_[count_] = nullptr;
    ++count_;
    return l;
  }

  static constexpr int room = N > 0 ? N : 1;
  int count_ = 0;
  leaf leaves_[room];
  std::int64_t slots_[room];
  bool* flags_[room];
  void* states_[room];
  void* (*detach_[room])(void*);
};

}  // namespace calque::detail
