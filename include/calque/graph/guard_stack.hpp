// The guards that are open while a body is traced, as names in the graph's characters.
//
// A node holds where its device's name stands (`node::device`); equal names stand there once. The
// builder's; a header of its own because names of devices are nothing else's concern.
#pragma once

#include <string_view>

#include "calque/core/device_name.hpp"
#include "calque/graph/list.hpp"

namespace calque::detail {

class guard_stack {
 public:
  /// Opens a guard inside the present one; where its name stands in `chars`, -1 if it names none.
  constexpr std::int32_t push(list<char>& chars, const device_name& name, bool clear) {
    outer_.push(here_);
    const device_name around = here_ < 0 ? device_name{} : device_name{chars.begin() + here_};
    const device_name merged = clear ? device_name{} : name.within(around);
    return here_ = merged.is_open() ? -1 : place_of(chars, merged);
  }
  /// Closes it; what counts from here on.
  constexpr std::int32_t pop() {
    here_ = outer_.back();
    outer_.pop();
    return here_;
  }

 private:
  constexpr std::int32_t place_of(list<char>& chars, const device_name& name) {
    const int start = chars.size();
    name.write([&](char c) { chars.push(c); });
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
  list<std::int32_t> outer_, texts_;
};

}  // namespace calque::detail
