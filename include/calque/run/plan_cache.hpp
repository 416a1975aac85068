// The plans of one traced function for the argument types of one graph, by sizes and layouts.
//
// A hit takes no lock and allocates nothing. A miss plans under a mutex, so that a key is planned
// once; then the plan used longest ago goes if there are too many plans or bytes. A plan in use is
// never freed: a lease counts its user.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "calque/core/log_sink.hpp"
#include "calque/core/thread_object.hpp"
#include "calque/run/executor.hpp"
#include "calque/run/plan_table.hpp"

#if CALQUE_DEFINES_ONCE()
#include "calque/run/inspect.hpp"
#include "calque/run/named_devices.hpp"
#include "calque/run/placement_of.hpp"
#include "calque/run/planner.hpp"
#endif

namespace calque {

namespace detail {

/// Writes where the values of a plan are; see `set_log_sink`.
CALQUE_ONCE void log_placements(const plan& p);

}  // namespace detail

/// What a traced function's calls did so far.
struct cache_stats {
  std::int64_t plans = 0, hits = 0, misses = 0, evictions = 0, launches = 0, allocations = 0,
               peak_bytes = 0;
};

/// Keeps a plan from being freed while it is used.
class plan_lease {
 public:
  plan_lease() = default;
  explicit plan_lease(detail::plan_shell* shell) noexcept : shell_(shell) {}
  plan_lease(plan_lease&& o) noexcept : shell_(std::exchange(o.shell_, nullptr)) {}
  plan_lease& operator=(plan_lease&& o) noexcept {
    std::swap(shell_, o.shell_);
    return *this;
  }
  ~plan_lease() {
    if (shell_ != nullptr) shell_->users.fetch_sub(1, std::memory_order_release);
  }
  [[nodiscard]] const plan& operator*() const { return *shell_->content; }
  [[nodiscard]] const plan* operator->() const { return shell_->content.get(); }
  [[nodiscard]] explicit operator bool() const { return shell_ != nullptr; }

 protected:
  detail::plan_shell* shell_ = nullptr;
};

/// The lease of a call, which runs the plan once. A call that throws takes the count of its
/// launches back.
class plan_use : public plan_lease {
 public:
  using plan_lease::plan_lease;
  plan_use(plan_use&& o) noexcept = default;
  plan_use& operator=(plan_use&&) = delete;
  ~plan_use() {
    if (shell_ != nullptr && !ran_) [[unlikely]]
      shell_->looks.fetch_add(1, std::memory_order_relaxed);
  }
  void ran() { ran_ = true; }

 private:
  bool ran_ = false;
};

/// The cache of one graph's plans. The data behind `graph` and `kernels` outlives the cache.
class plan_cache {
 public:
  CALQUE_ONCE plan_cache(const graph_view& graph, const kernel_table& kernels);
  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;
  CALQUE_ONCE ~plan_cache();

  /// The plan for a call, to read or to `replay`. Throws what planning throws; then nothing has
  /// changed.
  [[nodiscard]] CALQUE_ONCE plan_lease find(const call_request& request);
  /// The same for a call that runs it by `replay_use`.
  [[nodiscard]] CALQUE_ONCE plan_use use(const call_request& request);
  /// The same for a call that knows its key, as `plan_key` would write it; none if no plan is there
  /// yet.
  [[nodiscard]] CALQUE_HIDDEN plan_use use_known(const detail::planning::key_view& key) {
    detail::plan_shell* const shell = table_.load(std::memory_order_acquire)->find(key);
    if (shell != nullptr) [[likely]]
      touch(*shell);
    return plan_use(shell);
  }

  /// At most `count` plans (at least 1), and at most `most` bytes of plans and their arenas.
  CALQUE_ONCE void limit(std::int64_t count, bytes most);
  /// Drops every plan; those in use go when their last user leaves.
  CALQUE_ONCE void clear();
  [[nodiscard]] CALQUE_ONCE cache_stats stats() const;
  /// Why the calling thread's last miss in this cache made a plan; empty if it had none.
  [[nodiscard]] CALQUE_ONCE std::string last_miss() const;
  [[nodiscard]] const graph_view& graph() const { return graph_; }

 private:
  void touch(detail::plan_shell& s) {
    // lost updates between threads only make recency approximate
    const std::uint64_t now = clock_.load(std::memory_order_relaxed) + 1;
    clock_.store(now, std::memory_order_relaxed);
    s.used_at.store(now, std::memory_order_relaxed);
  }
  /// Counted in.
  CALQUE_ONCE detail::plan_shell* shell_for(const call_request& request);
  CALQUE_ONCE detail::plan_shell* plan_now(const detail::planning::plan_key& key,
                                           const call_request& request);
  /// Launches of a shell's plan that were counted with its uses, when `users` was its count.
  [[nodiscard]] CALQUE_ONCE static std::int64_t launches_by_use(const detail::plan_shell& s,
                                                                std::int64_t users);
  CALQUE_ONCE std::string reason(const detail::planning::plan_key& key) const;
  CALQUE_ONCE void remember(std::string why) const;
  /// A shell without a plan that nobody looks at: the last of `spare_`.
  CALQUE_ONCE detail::plan_shell* spare();
  CALQUE_ONCE void retire(std::size_t i);
  /// Frees the plans taken out that nobody uses any more.
  CALQUE_ONCE void reclaim();
  CALQUE_ONCE void drop_gone();
  [[nodiscard]] CALQUE_ONCE bool too_many() const;
  CALQUE_ONCE void evict(const detail::plan_shell* keep);
  /// A bigger table; readers that still follow the old one find nothing there and come here.
  CALQUE_ONCE void grow();

  const graph_view graph_;
  const kernel_table kernels_;
  const detail::planning::graph_facts facts_;
  const std::uint64_t number_;
  std::atomic<detail::plan_table*> table_{nullptr};
  std::atomic<std::uint64_t> clock_{0};
  detail::run_counters counters_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<detail::plan_table>> tables_;  // the last one is in use
  std::vector<std::unique_ptr<detail::plan_shell>> shells_;
  std::vector<detail::plan_shell*> active_, retired_, spare_;
  std::int64_t most_plans_ = 64;
  bytes most_bytes_{0};  // 0: no limit
  std::int64_t misses_ = 0, evictions_ = 0, peak_bytes_ = 0;
  std::int64_t launches_before_ = 0;  // by use, of plans that are gone
};

#if CALQUE_DEFINES_ONCE()
namespace detail {

/// Why this thread's last misses of some caches happened.
struct miss_record {
  std::uint64_t cache = 0;
  std::string text;
};
inline std::uint64_t next_cache_number() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace detail

CALQUE_ONCE plan_cache::plan_cache(const graph_view& graph, const kernel_table& kernels)
    : graph_(graph), kernels_(kernels), facts_(graph), number_(detail::next_cache_number()) {
  tables_.push_back(std::make_unique<detail::plan_table>(most_plans_));
  table_.store(tables_.back().get());
}

CALQUE_ONCE plan_cache::~plan_cache() = default;

CALQUE_ONCE plan_lease plan_cache::find(const call_request& request) {
  detail::plan_shell* const shell = shell_for(request);
  shell->looks.fetch_add(1, std::memory_order_relaxed);
  return plan_lease(shell);
}

CALQUE_ONCE plan_use plan_cache::use(const call_request& request) {
  return plan_use(shell_for(request));
}

CALQUE_ONCE detail::plan_shell* plan_cache::shell_for(const call_request& given) {
  call_request request = given;
  const detail::named_devices named(graph_, facts_, request);
  if (request.leaf_count != graph_.argument_count ||
      (request.outputs != nullptr && request.output_count != graph_.result_count()))
    throw value_error("plan: the call does not have this function's leaves and results");
  const detail::planning::plan_key key(graph_, facts_, request);
  if (detail::plan_shell* shell = table_.load(std::memory_order_acquire)->find(key.view())) {
    touch(*shell);
    return shell;
  }
  detail::plan_shell* const made = plan_now(key, request);
  if (detail::is_logging()) [[unlikely]]  // outside the lock: a sink may call traced functions
    if (const auto write = detail::log_of_process().placements.load()) write(*made->content);
  return made;
}

CALQUE_ONCE void plan_cache::limit(std::int64_t count, bytes most) {
  const std::lock_guard lock(mutex_);
  most_plans_ = std::max<std::int64_t>(count, 1);
  most_bytes_ = most;
  if (!tables_.back()->holds(most_plans_)) grow();
  evict(nullptr);
}

CALQUE_ONCE void plan_cache::clear() {
  const std::lock_guard lock(mutex_);
  while (!active_.empty()) retire(active_.size() - 1);
  reclaim();
}

CALQUE_ONCE cache_stats plan_cache::stats() const {
  const std::lock_guard lock(mutex_);
  cache_stats s;
  s.plans = static_cast<std::int64_t>(active_.size());
  std::int64_t uses = 0;
  s.launches = counters_.launches.load(std::memory_order_relaxed) + launches_before_;
  for (const auto& shell : shells_) {
    uses += shell->users.load(std::memory_order_relaxed) / detail::one_use;
    s.launches += launches_by_use(*shell, shell->users.load(std::memory_order_acquire));
  }
  s.misses = misses_;
  s.hits = uses - misses_;
  s.evictions = evictions_;
  s.allocations = counters_.allocations.load(std::memory_order_relaxed);
  s.peak_bytes = peak_bytes_;
  return s;
}

CALQUE_ONCE std::string plan_cache::last_miss() const {
  if (const auto* const records = detail::thread_object<std::vector<detail::miss_record>>())
    for (const auto& r : *records)
      if (r.cache == number_) return r.text;
  return {};
}

CALQUE_ONCE std::int64_t plan_cache::launches_by_use(const detail::plan_shell& s,
                                                     std::int64_t users) {
  if (s.content == nullptr || !detail::plan_access{*s.content}.straight()) return 0;
  return (detail::runs_of(s, users) - s.runs_before) * s.content->steps();
}

CALQUE_ONCE detail::plan_shell* plan_cache::plan_now(const detail::planning::plan_key& key,
                                                     const call_request& request) {
  const std::lock_guard lock(mutex_);
  if (detail::plan_shell* shell = tables_.back()->find(key.view())) {  // somebody was faster
    touch(*shell);
    return shell;
  }
  std::string why = reason(key);
  auto made = detail::make_plan(graph_, kernels_, facts_, request, &counters_);
  drop_gone();
  reclaim();
  detail::plan_shell* shell = spare();
  shell->key.assign(key.begin(), key.end());
  shell->hash = key.hash();
  remember(std::move(why));
  spare_.pop_back();  // nothing throws from here on
  active_.push_back(shell);
  shell->content = std::move(made);
  peak_bytes_ = std::max(peak_bytes_, shell->content->peak_bytes().count());
  ++misses_;
  shell->users.fetch_add(detail::one_use + 1);
  tables_.back()->insert(shell);
  touch(*shell);
  evict(shell);
  return shell;
}

/// Plans for devices that are gone will not be asked for again, and hold their memory.
CALQUE_ONCE void plan_cache::drop_gone() {
  for (std::size_t i = active_.size(); i-- > 0;)
    for (const auto& d : detail::plan_access{*active_[i]->content}.devices())
      if (d->where.get()->gone.load(std::memory_order_acquire)) {
        retire(i);
        break;
      }
}
CALQUE_ONCE std::string plan_cache::reason(const detail::planning::plan_key& key) const {
  const detail::plan_shell* latest = nullptr;
  for (const detail::plan_shell* s : active_)
    if (latest == nullptr || s->used_at.load(std::memory_order_relaxed) >
                                 latest->used_at.load(std::memory_order_relaxed))
      latest = s;
  if (latest == nullptr) return "first call";
  return detail::planning::key_difference(graph_, key.begin(),
                                          static_cast<std::size_t>(key.end() - key.begin()),
                                          latest->key.data(), latest->key.size())
      .text();
}

CALQUE_ONCE void plan_cache::remember(std::string why) const {
  auto* const mine = detail::thread_object<std::vector<detail::miss_record>>();
  if (mine == nullptr) return;  // the thread ends: nobody will ask
  auto& records = *mine;
  for (auto& r : records)
    if (r.cache == number_) {
      r.text = std::move(why);
      return;
    }
  if (records.size() >= 256) records.erase(records.begin());
  records.push_back({number_, std::move(why)});
}

CALQUE_ONCE detail::plan_shell* plan_cache::spare() {
  if (spare_.empty()) {
    active_.reserve(shells_.size() + 1);
    retired_.reserve(shells_.size() + 1);
    spare_.reserve(shells_.size() + 1);
    shells_.push_back(std::make_unique<detail::plan_shell>());
    spare_.push_back(shells_.back().get());
  }
  return spare_.back();
}

CALQUE_ONCE void plan_cache::retire(std::size_t i) {
  detail::plan_shell* s = active_[i];
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
  tables_.back()->take_out(s);
  retired_.push_back(s);
}

CALQUE_ONCE void plan_cache::reclaim() {
  for (std::size_t i = retired_.size(); i-- > 0;) {
    detail::plan_shell* s = retired_[i];
    // who comes after this look finds the slot changed and takes the count of its use back
    const std::int64_t users = s->users.load();
    if (detail::in_use(users)) continue;
    launches_before_ += launches_by_use(*s, users);
    s->runs_before = detail::runs_of(*s, users);
    s->content.reset();
    retired_.erase(retired_.begin() + static_cast<std::ptrdiff_t>(i));
    spare_.push_back(s);
  }
}

CALQUE_ONCE bool plan_cache::too_many() const {
  if (static_cast<std::int64_t>(active_.size()) > most_plans_) return true;
  if (most_bytes_.count() <= 0) return false;
  bytes held;
  for (const detail::plan_shell* s : active_) held = held + s->content->held_bytes();
  return held > most_bytes_;
}

CALQUE_ONCE void plan_cache::evict(const detail::plan_shell* keep) {
  while (too_many()) {
    std::size_t oldest = active_.size();
    for (std::size_t i = 0; i < active_.size(); ++i)
      if (active_[i] != keep && (oldest == active_.size() ||
                                 active_[i]->used_at.load(std::memory_order_relaxed) <
                                     active_[oldest]->used_at.load(std::memory_order_relaxed)))
        oldest = i;
    if (oldest == active_.size()) break;
    retire(oldest);
    ++evictions_;
  }
  reclaim();
}

CALQUE_ONCE void plan_cache::grow() {
  tables_.reserve(tables_.size() + 1);
  auto bigger = std::make_unique<detail::plan_table>(most_plans_);
  for (detail::plan_shell* s : active_) {
    bigger->insert(s);
    tables_.back()->take_out(s);
  }
  tables_.push_back(std::move(bigger));
  table_.store(tables_.back().get(), std::memory_order_release);
}
#endif

}  // namespace calque
