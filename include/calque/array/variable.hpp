// Variables: named state that traced functions read and write in place, from call to call.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "calque/array/access.hpp"
#include "calque/array/array.hpp"

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
      throw value_error("variable.value(): variable '" + s.name +
                        "' has no value yet; assign one, or construct it from an array");
    return s.value;
  }
  /// Replaces the value; extents stay the same, else `shape_error`.
  void assign(const array<T, Rank>& next) const {
    auto& s = state("assign()");
    if (next.shape() != s.value.shape())
      throw shape_error("variable.assign(array): variable '" + s.name + "' is " +
                        detail::label(s.value) + ", the array is " + detail::label(next) +
                        ": make a new variable for other extents");
    s.value = next.is_contiguous() && !detail::array_access::borrowed(next) ? next : next.clone();
    s.initialised = true;
  }
  [[nodiscard]] const std::string& name() const { return state("name()").name; }
  [[nodiscard]] calque::shape<Rank> shape() const { return state("shape()").value.shape(); }
  [[nodiscard]] static constexpr int rank() { return Rank; }

 private:
  friend detail::variable_access;

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
