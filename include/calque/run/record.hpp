// `cq::record`: what one call did when, step by step, on which device. Opt-in, a call at a time.
//
// The executor notes numbers of steps and times; names are made of them when the call is over.
// Separate from the executor because calls without a record have nothing of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calque/core/device.hpp"
#include "calque/core/error.hpp"

namespace calque {

/// A step of a recorded call: seconds since the call began, bytes that it read and wrote (of a
/// transfer: copied).
struct recorded_step {
  device where{};
  std::string node{};  // the name it was given, or its operation's
  std::string op{};    // "transfer" for a copy from another device
  double start = 0, end = 0;
  std::int64_t bytes = 0;
};

namespace detail {

/// A step as the executor notes it.
struct noted_step {
  std::int32_t step = 0;
  std::chrono::steady_clock::time_point start{}, end{};
};

}  // namespace detail

/// Takes down the steps of the calls that it is passed to, one after the other.
///
///   cq::record rec;
///   auto y = f(rec, x);
///   for (const cq::recorded_step& s : rec.steps()) ...
///   rec.save("trace.json");  // for Perfetto, or chrome://tracing
class record {
 public:
  [[nodiscard]] const std::vector<recorded_step>& steps() const { return steps_; }
  void clear() {
    steps_.clear();
    noted_.clear();
  }
  /// The steps in the Trace Event Format, a row for each device.
  [[nodiscard]] std::string json() const {
    std::string s = "{\"traceEvents\":[";
    std::vector<std::string> rows;
    for (const recorded_step& t : steps_) {
      const std::string name = t.where.name();
      std::size_t row = 0;
      while (row < rows.size() && rows[row] != name) ++row;
      if (row == rows.size()) {
        rows.push_back(name);
        s.append(rows.size() > 1 ? ",\n" : "\n")
            .append("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":")
            .append(std::to_string(row))
            .append(",\"args\":{\"name\":")
            .append(quoted(name))
            .append("}}");
      }
      s.append(",\n{\"name\":")
          .append(quoted(t.node))
          .append(",\"cat\":")
          .append(quoted(t.op))
          .append(",\"ph\":\"X\",\"pid\":1,\"tid\":")
          .append(std::to_string(row))
          .append(",\"ts\":")
          .append(microseconds(t.start))
          .append(",\"dur\":")
          .append(microseconds(t.end - t.start))
          .append(",\"args\":{\"bytes\":")
          .append(std::to_string(t.bytes))
          .append("}}");
    }
    return s.append("\n]}\n");
  }
  /// Writes `json()` to a file; throws `value_error` if that fails.
  void save(const std::string& path) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                               &std::fclose);
    const std::string text = json();
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0)
      throw value_error("record.save: \"" + path +
                        "\" cannot be written; give a path in a folder that is there");
  }

  /// For the library's own headers.
  std::vector<detail::noted_step>& noted() { return noted_; }
  void add(recorded_step s) { steps_.push_back(std::move(s)); }

 private:
  static std::string microseconds(double seconds) {
    char text[40];
    (void)std::snprintf(text, sizeof text, "%lld.%03lld",
                        static_cast<long long>(seconds * 1e9) / 1000,
                        static_cast<long long>(seconds * 1e9) % 1000);
    return text;
  }
  static std::string quoted(const std::string& s) {
    std::string r = "\"";
    for (const char c : s) {
      const auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') r.append(1, '\\').append(1, c);
      else if (u < 0x20) r.append(1, '?');
      else r.append(1, c);
    }
    return r.append(1, '"');
  }

  std::vector<recorded_step> steps_;
  std::vector<detail::noted_step> noted_;
};

}  // namespace calque
