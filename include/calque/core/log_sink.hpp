// Where the library writes lines for whoever wants to read along: nowhere, unless a sink is set.
//
// One sink for the whole process, also where executables and plugins hide their symbols. Called
// with whole lines, one at a time; plans write where their values are placed (run/plan_cache.hpp).
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include "calque/core/config.hpp"

namespace calque {

class plan;

/// Takes one line, without its end.
using log_sink = std::function<void(std::string_view)>;

namespace detail {
inline namespace abi_1 {

struct log_state {
  std::atomic<bool> on{false};
  std::atomic<void (*)(const plan&)> placements{nullptr};  // writes a new plan's lines
  std::recursive_mutex mutex;                              // a sink may set another
  log_sink sink;
};
CALQUE_SHARED inline log_state& log_of_process() {
  static auto* const state = new log_state;  // never destroyed: no order at exit
  return *state;
}

}  // namespace abi_1

[[nodiscard]] inline bool is_logging() {
  return log_of_process().on.load(std::memory_order_relaxed);
}
inline void log_line(std::string_view line) {
  log_state& s = log_of_process();
  const std::lock_guard lock(s.mutex);
  const log_sink now = s.sink;
  if (now) now(line);
}

}  // namespace detail

}  // namespace calque
