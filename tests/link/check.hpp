// What must hold of a unit's answer in any program.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "link/functions.hpp"

namespace linked {

/// "" where the answer is right and comes from this process's device table.
inline std::string fault_of(const answer& a) {
  if (a.devices != &calque::detail::host_state()) return "it has a device table of its own";
  if (a.level != &calque::detail::isa_in_use()) return "it has an instruction set of its own";
  if (a.launches <= 0) return "it counted no launch";
  if (a.norm != 13) return "its norm is wrong";
  if (a.largest[0] != 2 || a.largest[1] != 1 || a.largest[2] != 2) return "its argmax is wrong";
  const auto x = calque::linspace(0.1f, 7.3f, length), y = calque::linspace(0.7f, 9.1f, length);
  for (int i = 0; i < length; ++i) {
    // one rounding or two: within an ulp, as all terms are positive
    const float want = static_cast<float>(1.7f * double{x(i)} + double{y(i)});
    if (std::nextafter(want, 0.f) > a.blended[i] || std::nextafter(want, 99.f) < a.blended[i])
      return "its a * x + y is wrong";
  }
  return "";
}
inline bool same_bits(const answer& a, const answer& b) {
  return std::memcmp(a.blended, b.blended, sizeof a.blended) == 0 && a.norm == b.norm;
}

}  // namespace linked
