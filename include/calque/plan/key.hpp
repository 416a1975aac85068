// A plan's key: everything about a call that a plan depends on, as words, without a heap.
//
// Extents and strides of every leaf and destination, and which memory overlaps; never a scalar's
// value. Compared word by word on every call, and decoded once on a miss to say what is new.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "calque/core/thread_object.hpp"
#include "calque/plan/overlap.hpp"

namespace calque::detail::planning {

/// The words of a key, wherever they are, and their hash.
struct key_view {
  const std::int64_t* words;
  std::size_t size;
  std::uint64_t hash;

  [[nodiscard]] bool equals(const std::vector<std::int64_t>& o) const {
    if (o.size() != size) return false;
    std::int64_t different = 0;  // keys are short, and nearly always equal
    for (std::size_t i = 0; i < size; ++i) different |= words[i] ^ o[i];
    return different == 0;
  }
};

/// A key's hash: a sum of products, whose terms do not wait for each other, then mixed.
struct key_hash {
  std::uint64_t sum;

  explicit constexpr key_hash(std::size_t size) : sum(size) {}
  constexpr void add(std::size_t i, std::int64_t word) {
    // even steps: factors stay odd
    sum += static_cast<std::uint64_t>(word) * (0x9E3779B97F4A7C15u + i * 0xD1B54A32D192ED02u);
  }
  [[nodiscard]] constexpr std::uint64_t value() const {
    const std::uint64_t h = (sum ^ (sum >> 32)) * 0xD6E8FEB86659FD93u;
    return h ^ (h >> 32);
  }
};

/// The key of one call. Its words live on the stack, or for big functions in the thread's buffer.
class plan_key {
 public:
  /// Layout: [flags: bit 0 outputs given, then one a leaf and output: row-major] [leaves: extents,
  /// strides unless row-major] [outputs likewise] [threads, if several] [pairs of variables that
  /// are one] [overlaps].
  plan_key(const graph_view& g, const graph_facts& facts, const call_request& r) {
    const std::size_t bound = bound_of(g, facts, r);
    words_ = inline_.data();
    if (bound > inline_.size()) {
      std::vector<std::int64_t>* buffer = thread_object<std::vector<std::int64_t>>();
      if (buffer == nullptr) buffer = &own_;  // the thread ends
      if (buffer->size() < bound) buffer->resize(bound);
      words_ = buffer->data();
    }
    writer w{words_, words_ + flag_words(g)};
    std::fill(words_, w.to, 0);
    w.flag(r.outputs != nullptr);
    for (int i = 0; i < r.leaf_count; ++i) {
      const leaf& l = r.leaves[i];
      if (l.kind == argument_kind::scalar || l.kind == argument_kind::device) w.flag(true);
      else w.add(l.rank, l.extents, l.strides);
    }
    if (r.outputs != nullptr)
      for (int k = 0; k < r.output_count; ++k)
        w.add(g.nodes[g.result(k)].rank, r.outputs[k].extents, r.outputs[k].strides);
    w.end_flags();
    if (r.threads > 1) w.push(threads_tag | r.threads);
    if (!r.on_host()) add_places(w, r);
    add_shared_variables(w, r);
    if (r.outputs != nullptr || !facts.written.empty())
      for_each_overlap(g, facts, r, [&](int a, int b, overlap c) {
        w.push((std::int64_t{a} << 32) | (std::int64_t{b} << 2) | static_cast<std::int64_t>(c));
      });
    size_ = static_cast<std::size_t>(w.to - words_);
    key_hash h(size_);
    for (std::size_t i = 0; i < size_; ++i) h.add(i, words_[i]);
    hash_ = h.value();
  }
  plan_key(const plan_key&) = delete;
  plan_key& operator=(const plan_key&) = delete;

  [[nodiscard]] const std::int64_t* begin() const { return words_; }
  [[nodiscard]] const std::int64_t* end() const { return words_ + size_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] key_view view() const { return {words_, size_, hash_}; }
  /// Marks the word that holds the number of threads.
  static constexpr std::int64_t threads_tag = std::int64_t{1} << 61;

  /// Marks the words that say on which device something besides the host is.
  static constexpr std::int64_t place_tag = std::int64_t{1} << 60;
  static constexpr int place_shift = 40;

  [[nodiscard]] static std::size_t flag_words(const graph_view& g) {
    return static_cast<std::size_t>(1 + g.argument_count + g.result_count() + 63) / 64;
  }

 private:
  static std::size_t bound_of(const graph_view& g, const graph_facts& facts,
                              const call_request& r) {
    const auto count = [](int n) { return static_cast<std::size_t>(n); };
    const std::size_t leaves = count(r.leaf_count), outputs = r.outputs ? count(r.output_count) : 0;
    return flag_words(g) + 3 + 2 * max_rank * (leaves + outputs) + 2 * leaves + outputs +
           facts.named.size() + (outputs + facts.written.size()) * leaves + outputs * outputs / 2;
  }

  /// Appends words, and flags into the words that were left free for them in front.
  struct writer {
    std::int64_t *flags, *to;
    std::uint64_t pending = 0;
    int filled = 0;

    void push(std::int64_t w) { *to++ = w; }
    void flag(bool on) {
      pending |= std::uint64_t{on} << filled;
      if (++filled == 64) end_flags();
    }
    void end_flags() {
      if (filled > 0) *flags++ = static_cast<std::int64_t>(pending);
      pending = 0, filled = 0;
    }
    void add(int rank, const std::int64_t* extents, const std::int64_t* strides) {
      for (int i = 0; i < rank; ++i) push(extents[i]);
      const bool dense = is_row_major(rank, extents, strides);
      flag(dense);
      if (!dense)
        for (int i = 0; i < rank; ++i) push(extents[i] == 1 ? 0 : strides[i]);
    }
  };
  /// For the call (position 0), its leaves and destinations: the number of the device.
  static void add_places(writer& w, const call_request& r) {
    std::int64_t position = 0;
    const auto add = [&](const device_entry* d) {
      if (d != nullptr)
        w.push(place_tag | (position << place_shift) | static_cast<std::int64_t>(d->serial));
      ++position;
    };
    add(r.where);
    for (int i = 0; i < r.leaf_count; ++i) add(r.leaves[i].place);
    for (int i = 0; i < r.named_count; ++i) add(r.named[i]);
    if (r.soft || r.locked)
      w.push(place_tag | ((std::int64_t{1} << 19) << place_shift) | (r.soft ? 1 : 0) |
             (r.locked ? 2 : 0));
    for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k) add(r.outputs[k].place);
  }
  /// Few variables are compared with each other; many go through a small filter first.
  static void add_shared_variables(writer& w, const call_request& r) {
    std::uint64_t seen[4]{};
    bool maybe = false;
    for (int i = 0; i < r.leaf_count; ++i) {
      if (r.leaves[i].kind != argument_kind::variable) continue;
      const std::uint64_t h =
          (reinterpret_cast<std::uintptr_t>(r.leaves[i].identity) * 0x9E3779B97F4A7C15u) >> 56;
      const std::uint64_t bit = std::uint64_t{1} << (h % 64);
      maybe |= (seen[h / 64] & bit) != 0;
      seen[h / 64] |= bit;
    }
    for (int i = 0; maybe && i < r.leaf_count; ++i) {
      if (r.leaves[i].kind != argument_kind::variable) continue;
      for (int k = 0; k < i; ++k)
        if (r.leaves[k].kind == argument_kind::variable &&
            r.leaves[k].identity == r.leaves[i].identity) {
          w.push((std::int64_t{1} << 62) | (std::int64_t{i} << 24) | k);
          break;
        }
    }
  }

  std::int64_t* words_;
  std::size_t size_;
  std::uint64_t hash_;
  std::array<std::int64_t, 192> inline_;  // uninitialised: only the words in use are ever read
  std::vector<std::int64_t> own_;
};

/// Names the first difference of a new key from an older one of the same graph.
class key_difference {
 public:
  key_difference(const graph_view& g, const std::int64_t* now, std::size_t now_size,
                 const std::int64_t* before, std::size_t before_size)
      : g_(g),
        now_{now, now_size, plan_key::flag_words(g)},
        before_{before, before_size, plan_key::flag_words(g)} {}

  [[nodiscard]] std::string text() {
    for (int i = 0; i < g_.argument_count; ++i) {
      const argument& a = g_.arguments[i];
      if (a.kind == argument_kind::scalar || a.kind == argument_kind::device) continue;
      if (differs("argument " + std::to_string(i), 1 + i, a.rank)) return text_;
    }
    const bool given = now_.flag(0);
    if (given != before_.flag(0))
      return given ? "the results have destinations, before they were fresh arrays"
                   : "the results are fresh arrays, before they had destinations";
    for (int k = 0; given && k < g_.result_count(); ++k)
      if (differs("output " + std::to_string(k), 1 + g_.argument_count + k,
                  g_.nodes[g_.result(k)].rank))
        return text_;
    const std::int64_t threads = now_.threads(), threads_before = before_.threads();
    if (threads != threads_before)
      return "the device has " + std::to_string(threads) + " threads, before it had " +
             std::to_string(threads_before);
    if (const std::string moved = places(); !moved.empty()) return moved;
    return aliasing();
  }

 private:
  struct cursor {
    const std::int64_t* words;
    std::size_t size, at;
    [[nodiscard]] bool flag(int i) const {
      return ((static_cast<std::uint64_t>(words[i / 64]) >> (i % 64)) & 1) != 0;
    }
    std::int64_t next() { return at < size ? words[at++] : -1; }
    std::int64_t place() {
      if (at >= size || (words[at] >> 60) != 1) return -1;
      return words[at++] & ~plan_key::place_tag;
    }
    std::int64_t threads() {
      if (at >= size || (words[at] >> 61) != 1) return 1;
      return words[at++] & ~plan_key::threads_tag;
    }
  };

  /// The first of the call, its leaves and its destinations that is somewhere else.
  std::string places() {
    for (;;) {
      const std::int64_t a = now_.place(), b = before_.place();
      if (a == b && a == -1) return {};
      if (a == b) continue;
      constexpr std::int64_t position = (std::int64_t{1} << 20) - 1;
      const std::int64_t pa = a == -1 ? position : a >> plan_key::place_shift & position;
      const std::int64_t pb = b == -1 ? position : b >> plan_key::place_shift & position;
      const std::int64_t p = pa < pb ? pa : pb;
      const std::int64_t named = p - 1 - g_.argument_count,
                         count = static_cast<std::int64_t>(graph_facts(g_).named.size());
      if (p > 0 && named >= 0 && named < count)
        return "a device that the function names is another";
      return (p == 0       ? "the call"
              : named >= 0 ? name(p - 1 - count)
                           : name(p - 1)) +
             " is on another device than before";
    }
  }
  bool differs(const std::string& what, int flag, int rank) {
    std::int64_t a[2][max_rank]{};
    for (int i = 0; i < rank; ++i) a[0][i] = now_.next();
    for (int i = 0; i < rank; ++i) a[1][i] = before_.next();
    for (int i = 0; i < rank; ++i)
      if (a[0][i] != a[1][i]) return say(what + ": extent of axis", i, a[0][i], a[1][i]);
    std::int64_t strides[2][max_rank]{};
    cursor* const side[] = {&now_, &before_};
    for (int s = 0; s < 2; ++s) {
      if (side[s]->flag(flag)) row_major(rank, a[s], strides[s]);
      else
        for (int i = 0; i < rank; ++i) strides[s][i] = side[s]->next();
    }
    for (int i = 0; i < rank; ++i)
      if (a[0][i] != 1 && strides[0][i] != strides[1][i])
        return say(what + ": stride of axis", i, strides[0][i], strides[1][i]);
    return false;
  }
  bool say(const std::string& what, int axis, std::int64_t now, std::int64_t before) {
    text_ = what + " " + std::to_string(axis) + " is " + std::to_string(now) + ", before it was " +
            std::to_string(before);
    return true;
  }
  std::string aliasing() {
    for (;;) {
      const std::int64_t a = now_.next(), b = before_.next();
      if (a == b && a != -1) continue;
      const std::int64_t w = a != -1 ? a : b;
      if (w == -1) return "nothing differs";
      if (((w >> 62) & 1) != 0)
        return "alias pattern: argument " + std::to_string((w >> 24) & 0xFFFFFF) +
               " and argument " + std::to_string(w & 0xFFFFFF) +
               (a != -1 ? " are one variable" : " are one variable no longer");
      const std::int64_t first = w >> 32, second = (w & 0xFFFFFFFF) >> 2;
      return "alias pattern: " + name(first) + " and " + name(second) + " overlap in memory " +
             (a != -1 ? "now" : "no longer") + (a != -1 && b != -1 ? " in another way" : "");
    }
  }

  [[nodiscard]] std::string name(std::int64_t i) const {
    return i < g_.argument_count ? "argument " + std::to_string(i)
                                 : "output " + std::to_string(i - g_.argument_count);
  }

  const graph_view& g_;
  cursor now_, before_;
  std::string text_;
};

}  // namespace calque::detail::planning
