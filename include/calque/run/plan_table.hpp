// Finds plans by key without a lock: the table that plan_cache.hpp keeps its plans in.
//
// A shell holds one plan, its key and the number of its users. A reader counts itself in, then
// looks whether the slot still holds the shell; who takes a shell out of its slot waits for the
// users to leave before the plan goes. Shells are never freed before the table, so counting oneself
// in on a shell that was just taken out is harmless.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "calque/plan/key.hpp"
#include "calque/run/plan.hpp"

namespace calque::detail {

struct plan_shell {
  /// Users now, and above `one_use` how often somebody came: readers whose slot had changed too.
  std::atomic<std::int64_t> users{0};
  /// How many of those who came did not run the plan to its end.
  std::atomic<std::int64_t> looks{0};
  std::int64_t runs_before = 0;  // of plans that were here before; under the cache's mutex
  std::atomic<std::uint64_t> used_at{0};
  std::vector<std::int64_t> key;  // constant while the shell is in a slot
  std::uint64_t hash = 0;
  std::unique_ptr<plan> content;
};

inline constexpr std::int64_t one_use = std::int64_t{1} << 20;

[[nodiscard]] constexpr bool in_use(std::int64_t users) { return users % one_use != 0; }
/// How often a shell's plans were run by those who came, when `users` was its count.
[[nodiscard]] inline std::int64_t runs_of(const plan_shell& s, std::int64_t users) {
  return users / one_use - s.looks.load(std::memory_order_relaxed);
}

/// Open addressing over slots that readers may follow at any time. Writers hold the cache's mutex.
class plan_table {
 public:
  /// Room for `plans` entries.
  explicit plan_table(std::int64_t plans) {
    std::size_t n = 16;
    while (n < 4 * static_cast<std::size_t>(plans)) n *= 2;
    slots_ = std::vector<slot>(n);
  }

  /// A shell with this key, counted in; null if there is none or it is being replaced right now.
  [[nodiscard]] plan_shell* find(const planning::key_view& key) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t wanted = tag(key.hash);
    for (std::size_t i = key.hash & mask, n = 0; n <= mask; i = (i + 1) & mask, ++n) {
      slot& s = slots_[i];
      const std::uint64_t seen = s.tag.load(std::memory_order_acquire);
      if (seen == never) return nullptr;
      if (seen != wanted) continue;
      plan_shell* const shell = s.shell.load(std::memory_order_acquire);
      if (shell == nullptr) continue;
      shell->users.fetch_add(one_use + 1);  // sequentially consistent, as in take_out
      if (s.shell.load() == shell && key.equals(shell->key)) return shell;
      shell->users.fetch_sub(one_use + 1, std::memory_order_release);
    }
    return nullptr;
  }
  void insert(plan_shell* shell) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = shell->hash & mask;; i = (i + 1) & mask) {
      slot& s = slots_[i];
      if (s.tag.load(std::memory_order_relaxed) > emptied) continue;
      s.shell.store(shell);
      s.tag.store(tag(shell->hash), std::memory_order_release);
      return;
    }
  }
  /// Afterwards nobody new finds the shell; its plan may go once nobody is left in it.
  void take_out(const plan_shell* shell) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i <= mask; ++i) {
      if (slots_[i].shell.load(std::memory_order_relaxed) != shell) continue;
      slots_[i].shell.store(nullptr);
      slots_[i].tag.store(emptied, std::memory_order_release);
      // a run of emptied slots before one that was never used needs no passing through
      for (std::size_t k = i; slots_[k].tag.load(std::memory_order_relaxed) == emptied &&
                              slots_[(k + 1) & mask].tag.load(std::memory_order_relaxed) == never;
           k = (k - 1) & mask)
        slots_[k].tag.store(never, std::memory_order_release);
      return;
    }
  }
  [[nodiscard]] bool holds(std::int64_t plans) const {
    return slots_.size() >= 4 * static_cast<std::size_t>(plans);
  }

 private:
  static constexpr std::uint64_t never = 0, emptied = 1;
  static std::uint64_t tag(std::uint64_t hash) { return hash < 2 ? hash + 2 : hash; }

  struct slot {
    std::atomic<std::uint64_t> tag{never};
    std::atomic<plan_shell*> shell{nullptr};
  };
  std::vector<slot> slots_;
};

}  // namespace calque::detail
