// A number of bytes as a type of its own, so that a limit can't be mistaken for a count.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace calque {

/// Bytes. Written with a unit: `64_MiB` after `using namespace calque::literals;`.
class bytes {
 public:
  constexpr bytes() = default;
  constexpr explicit bytes(std::int64_t count) : count_(count) {}
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  friend constexpr bytes operator+(bytes a, bytes b) { return bytes(a.count_ + b.count_); }
  friend constexpr bytes operator-(bytes a, bytes b) { return bytes(a.count_ - b.count_); }
  friend constexpr auto operator<=>(const bytes&, const bytes&) = default;

 private:
  std::int64_t count_ = 0;
};

/// "83.74 MiB", "512 B".
[[nodiscard]] inline std::string to_string(bytes b) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::int64_t whole = b.count(), scale = 1;
  int unit = 0;
  for (std::int64_t n = whole < 0 ? -whole : whole; n >= 1024 && unit < 6; n /= 1024) {
    scale *= 1024;
    ++unit;
  }
  std::string s = std::to_string(whole / scale);
  if (scale > 1) {
    const std::int64_t rest = (whole < 0 ? -whole : whole) % scale;
    const auto hundredths =
        static_cast<int>(static_cast<double>(rest) * 100 / static_cast<double>(scale));
    s += '.';
    s += static_cast<char>('0' + hundredths / 10);
    s += static_cast<char>('0' + hundredths % 10);
  }
  return s + ' ' + units[unit];
}

namespace literals {

constexpr bytes operator""_B(unsigned long long n) { return bytes(static_cast<std::int64_t>(n)); }
constexpr bytes operator""_KiB(unsigned long long n) {
  return bytes(static_cast<std::int64_t>(n << 10));
}
constexpr bytes operator""_MiB(unsigned long long n) {
  return bytes(static_cast<std::int64_t>(n << 20));
}
constexpr bytes operator""_GiB(unsigned long long n) {
  return bytes(static_cast<std::int64_t>(n << 30));
}

}  // namespace literals
}  // namespace calque
