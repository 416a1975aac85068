// Names of devices: what a program writes, whether or not there is such a device.
//
// A name is a plain constexpr value with five fields that may each be open, so that one may be
// merged into another. Separate from core/device.hpp because a traced body names devices inside the
// compiler, where nothing can be looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "calque/core/config.hpp"
#include "calque/core/error.hpp"

namespace calque {

/// Most threads that a device may be given.
inline constexpr int max_threads = 1024;

namespace detail {

/// A few letters as a constexpr value.
struct short_text {
  static constexpr int most = 31;
  char letters[most + 1]{};

  [[nodiscard]] constexpr std::string_view view() const {
    int n = 0;
    while (letters[n] != '\0') ++n;
    return {letters, static_cast<std::size_t>(n)};
  }
  [[nodiscard]] constexpr bool empty() const { return letters[0] == '\0'; }
  /// False if there is no room.
  constexpr bool set(std::string_view s) {
    if (s.size() > most) return false;
    for (std::size_t i = 0; i < most; ++i) letters[i] = i < s.size() ? s[i] : '\0';
    return true;
  }
  friend constexpr bool operator==(const short_text& a, const short_text& b) {
    return a.view() == b.view();
  }
};

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

/// A number of threads that a device may have; `name()` is called for the error.
template <class Name>
constexpr int checked_threads(int n, const Name& name) {
  if (n < 1 || n > max_threads)
    throw value_error("with_threads: " + name() + " cannot have " + std::to_string(n) +
                      " threads; give a number from 1 to " + std::to_string(max_threads));
  return n;
}

}  // namespace detail

/// A device by name: "gpu:0", the name of a virtual device ("a0"), or the long form
/// "/job:worker/replica:0/task:1/device:GPU:0", of which any part may be missing. Nothing is looked
/// up or initialised; `device` does that.
///
///   constexpr cq::device_name d{"/job:worker/task:1/gpu:0"};
///   static_assert(d.index() == 0 && d.task() == 1);
class device_name {
 public:
  /// Every field is open.
  constexpr device_name() = default;
  /// Reads a name. Throws `device_error` for a text that is none; in a constant expression that
  /// does not compile.
  constexpr explicit device_name(std::string_view text) {
    if (!read(text))
      throw device_error("device_name: \"" + std::string(text) +
                         "\" names no device; write \"gpu:0\", the name of a virtual device (at "
                         "most 31 letters, digits, '_', '-' or '.', a letter first), or the long "
                         "form \"/job:worker/replica:0/task:1/device:GPU:0\"");
  }
  constexpr explicit device_name(const char* text) : device_name(std::string_view(text)) {}
  constexpr device_name(std::string_view type, int index) : index_(index) {
    if (index < 0 || !is_word(type) || !type_.set(type))
      throw device_error("device_name: " + std::string(type) + ":" + std::to_string(index) +
                         " names no device; indices count from 0");
  }

  /// Letters of a field, empty where it is open.
  [[nodiscard]] constexpr std::string_view job() const { return job_.view(); }
  [[nodiscard]] constexpr std::string_view type() const { return type_.view(); }
  /// Numbers of a field, -1 where it is open.
  [[nodiscard]] constexpr int replica() const { return replica_; }
  [[nodiscard]] constexpr int task() const { return task_; }
  [[nodiscard]] constexpr int index() const { return index_; }
  /// How many threads a call may use; 0 where that is open.
  [[nodiscard]] constexpr int threads() const { return threads_; }
  /// Whether no field is given.
  [[nodiscard]] constexpr bool is_open() const { return *this == device_name{} && threads_ == 0; }

  /// The same device with `n` threads, 1 to 1024 (else `value_error`); see docs/threads.md.
  ///
  ///   cq::device_guard on{cq::cpu(0).with_threads(2)};
  [[nodiscard]] constexpr device_name with_threads(int n) const {
    device_name d = *this;
    d.threads_ = detail::checked_threads(n, [this] { return text(); });
    return d;
  }
  /// The same as `device{*this}.trim()`: gives back what the library keeps for reuse there.
  ///
  ///   cq::cpu().trim();
  void trim() const;
  /// This name with the open fields filled from `outer`. An index belongs to its type: where this
  /// name has a type, an index of `outer` is not taken over.
  [[nodiscard]] constexpr device_name within(const device_name& outer) const {
    device_name d = *this;
    if (d.job_.empty()) d.job_ = outer.job_;
    if (d.replica_ < 0) d.replica_ = outer.replica_;
    if (d.task_ < 0) d.task_ = outer.task_;
    if (d.index_ < 0 && d.type_.empty()) d.index_ = outer.index_;
    if (d.type_.empty()) d.type_ = outer.type_;
    if (d.threads_ == 0) d.threads_ = outer.threads_;
    return d;
  }

  /// "gpu:0"; with a job, replica or task the long form. What `device_name` reads back.
  [[nodiscard]] std::string text() const {
    std::string s;
    write([&s](char c) { s += c; });
    return s;
  }
  /// "/job:worker/replica:0/task:1/device:GPU:0", without the fields that are open.
  [[nodiscard]] std::string long_text() const {
    std::string s;
    write_long([&s](char c) { s += c; });
    return s;
  }
  /// Calls `put` with each letter of `text()`.
  template <class Put>
  constexpr void write(Put&& put) const {
    if (!job_.empty() || replica_ >= 0 || task_ >= 0) return write_long(put);
    if (type_.empty() && index_ < 0) return;
    for (char c : type_.empty() ? std::string_view("*") : type()) put(c);
    if (index_ >= 0) put(':'), write_number(index_, put);
  }

  /// The same place; threads do not matter.
  friend constexpr bool operator==(const device_name& a, const device_name& b) {
    return a.job_ == b.job_ && a.type_ == b.type_ && a.replica_ == b.replica_ &&
           a.task_ == b.task_ && a.index_ == b.index_;
  }

 private:
  template <class Put>
  constexpr void write_long(Put&& put) const {
    const auto words = [&put](std::string_view s) {
      for (char c : s) put(c);
    };
    if (!job_.empty()) words("/job:"), words(job());
    if (replica_ >= 0) words("/replica:"), write_number(replica_, put);
    if (task_ >= 0) words("/task:"), write_number(task_, put);
    if (type_.empty() && index_ < 0) return;
    words("/device:");
    const bool known = type() == "cpu" || type() == "gpu";
    for (char c : type()) put(known ? static_cast<char>(c - 'a' + 'A') : c);
    if (type_.empty()) put('*');
    if (index_ >= 0) put(':'), write_number(index_, put);
  }
  template <class Put>
  static constexpr void write_number(int n, Put&& put) {
    int digits = 1;
    while (n / digits >= 10) digits *= 10;
    for (; digits > 0; digits /= 10) put(static_cast<char>('0' + n / digits % 10));
  }
  static constexpr bool is_word(std::string_view s) {
    if (s.empty() || !detail::is_letter(s[0])) return false;
    for (char c : s)
      if (!detail::is_letter(c) && !detail::is_digit(c) && c != '_' && c != '-' && c != '.')
        return false;
    return true;
  }
  /// A number without sign of at most nine digits; -1 if it is none.
  static constexpr int number(std::string_view s) {
    if (s.empty() || s.size() > 9) return -1;
    int n = 0;
    for (char c : s) {
      if (!detail::is_digit(c)) return -1;
      n = 10 * n + (c - '0');
    }
    return n;
  }
  static constexpr std::string_view until(std::string_view s, char c) {
    return s.substr(0, s.find(c));
  }

  constexpr bool read(std::string_view s) {
    if (s.empty()) return false;
    if (s[0] == '/') s.remove_prefix(1);
    else if (s.find('/') != s.npos) return false;
    for (;;) {
      const std::string_view part = until(s, '/');
      if (!read_part(part)) return false;
      if (part.size() == s.size()) return true;
      s.remove_prefix(part.size() + 1);
    }
  }
  constexpr bool read_part(std::string_view part) {
    const std::string_view key = until(part, ':');
    const bool more = key.size() < part.size();
    const std::string_view value = more ? part.substr(key.size() + 1) : std::string_view{};
    if (more && key == "job") return job_.empty() && is_word(value) && job_.set(value);
    if (more && key == "replica") return set_number(replica_, value);
    if (more && key == "task") return set_number(task_, value);
    if (more && key == "device") return read_place(value);
    return read_place(part);
  }
  static constexpr bool set_number(int& field, std::string_view value) {
    if (field >= 0) return false;
    field = number(value);
    return field >= 0;
  }
  constexpr bool read_place(std::string_view s) {
    const std::string_view type = until(s, ':');
    const bool more = type.size() < s.size();
    if (!type_.empty() || index_ >= 0) return false;
    if (type != "*" && !(is_word(type) && type_.set(type))) return false;
    for (const std::string_view known : {std::string_view("cpu"), std::string_view("gpu")})
      if (detail::same_letters(type, known)) type_.set(known);
    if (!more) return type != "*";
    const std::string_view index = s.substr(type.size() + 1);
    return index == "*" ? type != "*" : set_number(index_, index);
  }

  detail::short_text job_, type_;
  int replica_ = -1, task_ = -1, index_ = -1, threads_ = 0;
};

/// The host's processor `index`.
[[nodiscard]] constexpr device_name cpu(int index = 0) { return {"cpu", index}; }
/// The NVIDIA GPU `index`.
[[nodiscard]] constexpr device_name gpu(int index) { return {"gpu", index}; }

}  // namespace calque
