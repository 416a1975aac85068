// The guards that are open while a body is traced, as names in the graph's characters.
//
// A node holds where its device's name stands (`node::device`), followed by a question mark where
// another device will do (soft placement); "@2" is the device that is argument 2; equal names stand
// there once. The builder's; a header of
// its own because names of devices are nothing else's concern.
#pragma once

#include <string_view>

#include "calque/core/device_name.hpp"
#include "calque/graph/list.hpp"

namespace calque::detail {

inline constexpr char soft_mark = '?';
/// Whether another device will do for a node that asks for `name`.
[[nodiscard]] constexpr bool is_soft(std::string_view name) {
  return !name.empty() && name.back() == soft_mark;
}
/// The name of the device that is asked for; may be empty.
[[nodiscard]] constexpr std::string_view asked_device(std::string_view name) {
  return is_soft(name) ? name.substr(0, name.size() - 1) : name;
}

inline constexpr char argument_mark = '@';
/// The number of the argument that a name stands for, or -1.
[[nodiscard]] constexpr int argument_of(std::string_view name) {
  if (name.empty() || name[0] != argument_mark) return -1;
  int n = 0;
  for (char c : asked_device(name).substr(1)) n = 10 * n + (c - '0');
  return n;
}

class guard_stack {
 public:
  /// Opens a guard inside the present one; where its name stands in `chars`, -1 if it names none.
  constexpr std::int32_t push(list<char>& chars, const device_name& name, bool clear) {
    outer_.push(here_);
    return set(chars, clear ? device_name{} : name.within(name_at(chars)), is_soft(text(chars)));
  }
  /// The same for what another node asks for, or for where an argument is.
  constexpr std::int32_t push_same(std::int32_t device) {
    outer_.push(here_);
    return here_ = device;
  }
  [[nodiscard]] constexpr std::int32_t here() const { return here_; }
  /// From here on, until that guard is closed, guards inside may name no other device.
  constexpr void lock() { locks_.push(outer_.size()); }
  /// Whether the guard that was just opened asks for another device than one that is locked.
  [[nodiscard]] constexpr bool breaks_lock() const {
    return !locks_.empty() && outer_.size() > locks_.back() && outer_.back() != here_;
  }
  /// The same for the device that is argument `number` of the call.
  constexpr std::int32_t push_argument(list<char>& chars, int number) {
    outer_.push(here_);
    return here_ = place_of(chars, {}, number, is_soft(text(chars)));
  }
  /// The same for a scope of soft placement, or of none.
  constexpr std::int32_t push_soft(list<char>& chars, bool soft) {
    outer_.push(here_);
    const std::string_view now = asked_device(text(chars));
    if (const int k = argument_of(now); k >= 0) return here_ = place_of(chars, {}, k, soft);
    return set(chars, name_at(chars), soft);
  }
  /// Closes it; what counts from here on.
  constexpr std::int32_t pop() {
    if (!locks_.empty() && locks_.back() == outer_.size()) locks_.pop();
    here_ = outer_.back();
    outer_.pop();
    return here_;
  }

 private:
  constexpr std::string_view text(const list<char>& chars) const {
    return here_ < 0 ? std::string_view{} : std::string_view(chars.begin() + here_);
  }
  constexpr device_name name_at(const list<char>& chars) const {
    const std::string_view name = asked_device(text(chars));
    return name.empty() || argument_of(name) >= 0 ? device_name{} : device_name{name};
  }
  constexpr std::int32_t set(list<char>& chars, const device_name& name, bool soft) {
    return here_ = name.is_open() && !soft ? -1 : place_of(chars, name, -1, soft);
  }
  constexpr std::int32_t place_of(list<char>& chars, const device_name& name, int argument,
                                  bool soft) {
    const int start = chars.size();
    name.write([&](char c) { chars.push(c); });
    if (argument >= 0) {
      int digits = 1;
      while (argument / digits >= 10) digits *= 10;
      for (chars.push(argument_mark); digits > 0; digits /= 10)
        chars.push(static_cast<char>('0' + argument / digits % 10));
    }
    if (soft) chars.push(soft_mark);
    chars.push('\0');
    const std::string_view made(chars.begin() + start);
    for (std::int32_t d : texts_)
      if (std::string_view(chars.begin() + d) == made) {
        chars.resize(start);
        return d;
      }
    texts_.push(start);
    return start;
  }

  std::int32_t here_ = -1;
  list<std::int32_t> outer_, texts_, locks_;
};

}  // namespace calque::detail
