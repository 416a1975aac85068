// Variables: named state that traced functions read and write in place, from call to call.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "calque/array/access.hpp"
#include "calque/array/array.hpp"
#include "calque/array/views.hpp"

namespace calque {

namespace detail {

/// What all handles of one variable share.
template <class T, int Rank>
struct variable_state {
  array<T, Rank> value;
  std::string name;
  bool initialised = false;
};

struct variable_access;

/// "variable 'w'"; "the variable" for one without a name.
[[nodiscard]] inline std::string variable_label(const std::string& name) {
  return name.empty() ? "the variable" : "variable '" + name + "'";
}

}  // namespace detail

/// A handle to state: copies name the same variable. In a traced function it is a symbol that reads
/// as its present value and is written by `assign`, `+=`, `-=`, `*=`, `/=`.
///
///   cq::variable<float, 2> w{cq::zeros<float>(cq::shape{784, 10}), "w"};
template <class T, int Rank>
class variable {
  static_assert(element<T>, "calque::variable: T must be an element type");

 public:
  using value_type = T;

  /// Names no variable: using it throws `value_error`.
  variable() = default;

  /// A variable that starts as `initial` (whose memory stays its own: it is copied when written).
  variable(array<T, Rank> initial, std::string name = {})
      : state_(std::make_shared<detail::variable_state<T, Rank>>()) {
    state_->value = initial.is_contiguous() && !detail::array_access::borrowed(initial)
                        ? std::move(initial)
                        : initial.clone();
    state_->name = std::move(name);
    state_->initialised = true;
  }
  /// A variable of these extents without a value: reading it before it is written throws
  /// `value_error`.
  explicit variable(const shape<Rank>& extents, std::string name = {})
      : state_(std::make_shared<detail::variable_state<T, Rank>>()) {
    state_->value = array<T, Rank>::uninitialised(extents);
    state_->name = std::move(name);
  }

  /// The present value; later writes to the variable do not change it.
  [[nodiscard]] array<T, Rank> value() const {
    const auto& s = state("value()");
    if (!s.initialised)
      throw value_error("variable.value(): " + detail::variable_label(s.name) +
                        " has no value yet; assign one, or construct it from an array");
    return s.value;
  }
  /// Replaces the value; the extents stay: an array of other extents is broadcast to them, and
  /// throws `shape_error` where it cannot be.
  void assign(const array<T, Rank>& next) const { store(next); }
  template <class U, int R>
    requires(R < Rank && std::same_as<std::remove_const_t<U>, T>)
  void assign(const array<U, R>& next) const {
    store(next);
  }
  [[nodiscard]] const std::string& name() const { return state("name()").name; }
  [[nodiscard]] calque::shape<Rank> shape() const { return state("shape()").value.shape(); }
  [[nodiscard]] static constexpr int rank() { return Rank; }

 private:
  friend detail::variable_access;

  template <class U, int R>
  void store(const array<U, R>& next) const {
    auto& s = state("assign()");
    const auto extents = s.value.shape();
    [[maybe_unused]] bool same = true;
    for (int i = 0; i < R; ++i) {
      const int axis = i + Rank - R;
      if (next.extent(i) == extents[axis]) continue;
      same = false;
      if (next.extent(i) != 1)
        throw shape_error("variable.assign(array): " + detail::variable_label(s.name) + " is " +
                          detail::label(s.value) + ", the array is " + detail::label(next) +
                          " (axis " + std::to_string(axis) +
                          " differs); only extent 1 can be repeated, and other extents take a new "
                          "variable");
    }
    if constexpr (R == Rank) {
      const bool share = next.is_contiguous() && !detail::array_access::borrowed(next);
      if (same) s.value = share ? next : next.clone();
      else s.value = broadcast_to(next, extents).clone();
    } else {
      s.value = broadcast_to(next, extents).clone();
    }
    s.initialised = true;
  }

  detail::variable_state<T, Rank>& state(const char* what) const {
    if (!state_)
      throw value_error(std::string("variable.") + what +
                        ": this handle names no variable; construct it from an array or a shape");
    return *state_;
  }

  std::shared_ptr<detail::variable_state<T, Rank>> state_;
};

template <class T, int Rank>
variable(array<T, Rank>) -> variable<T, Rank>;
template <class T, int Rank>
variable(array<T, Rank>, const char*) -> variable<T, Rank>;
template <class T, int Rank>
variable(array<T, Rank>, std::string) -> variable<T, Rank>;

namespace detail {

struct variable_access {
  template <class T, int Rank>
  static variable_state<T, Rank>& state(const variable<T, Rank>& v) {
    return v.state("(argument)");
  }
};

}  // namespace detail
}  // namespace calque
