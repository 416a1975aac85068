// `cq::set_log_sink`: lines of what the library decides, for whoever wants to read along.
#pragma once

#include <mutex>
#include <utility>

#include "calque/core/log_sink.hpp"
#include "calque/run/plan_cache.hpp"

namespace calque {

/// Sends the library's lines to `sink`, from any thread but one at a time; null ends that. Once a
/// plan, for each value that a kernel computes and each transfer:
///
///   logits: (matmul): gpu:0  requested=gpu:0 reason=asked for by a guard in the body
///
///   cq::set_log_sink([](std::string_view line) { std::cerr << line << '\n'; });
inline void set_log_sink(log_sink sink) {
  detail::log_state& s = detail::log_of_process();
  const std::lock_guard lock(s.mutex);
  s.placements.store(&detail::log_placements, std::memory_order_relaxed);
  s.on.store(static_cast<bool>(sink), std::memory_order_relaxed);
  s.sink = std::move(sink);
}

}  // namespace calque
