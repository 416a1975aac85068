// Groups of nodes while clusters are formed, and whether some of them may become one.
//
// `fuse` makes groups around reductions and elementwise results; merge_rows.hpp and merge_maps.hpp
// join them. What all have to avoid is a value that leaves a kernel and comes back into it. Lists
// of members and users keep the work of each question small: this runs in constant expressions.
#pragma once

#include "calque/graph/cluster.hpp"

namespace calque::detail {

/// Nodes that may become one kernel, while clusters are formed.
struct fusion_group {
  std::int32_t region = 0, domain = -1, root = -1, nodes = 0, first = -1, last = -1;
  std::int32_t device = -1;              // that its nodes were asked to run on
  std::int32_t inputs = 0, outputs = 0;  // bounds
  /// The first branch or loop that reads a member, and the last node outside that a member reads:
  /// the first waits for the group, and the group for the second.
  std::int32_t captured = none_captures, latest = -1;
  bool rows = false, product = false;
  bool dead = false;

  static constexpr std::int32_t none_captures = 0x7fffffff;
  [[nodiscard]] constexpr bool is_ready_in_time() const { return latest <= captured; }
};

/// The groups of a graph, by node the group that it is in (or -1), and who reads what. Reshapes and
/// broadcasts are looked through: they compute nothing.
class fusion_groups {
 public:
  static constexpr int nothing = -1, no_group = -2;

  graph_view g;
  list<std::int32_t>& group;
  list<fusion_group>& all;

  constexpr fusion_groups(const graph_view& graph, list<std::int32_t>& by_node,
                          list<fusion_group>& groups)
      : g(graph), group(by_node), all(groups) {
    next_.resize(g.node_count, -1);
    list<std::int32_t> latest;
    latest.resize(all.size(), -1);
    for (int id = g.node_count - 1; id >= 0; --id)
      if (group[id] >= 0) {
        next_[id] = latest[group[id]];
        latest[group[id]] = id;
      }
    find_users();
    find_captures();
    find_order();
    visited_.resize(all.size(), 0);
  }

  /// The members of a group: `for (int id = first(c); id >= 0; id = next(id))`, ascending.
  [[nodiscard]] constexpr int first(int c) const { return all[c].first; }
  [[nodiscard]] constexpr int next(int id) const { return next_[id]; }

  /// Whether nothing but members of group `c` reads a node.
  [[nodiscard]] constexpr bool is_read_by(int id, int c) const {
    if (is_result_[id] != 0) return false;
    for (int u = users_of_[id]; u < users_of_[id + 1]; ++u)
      if (group[users_[u]] != c) return false;
    return users_of_[id] < users_of_[id + 1];
  }
  /// Whether group `c` alone reads the values of group `x`.
  [[nodiscard]] constexpr bool is_read_within(int x, int c) const {
    for (int id = first(x); id >= 0; id = next(id)) {
      if (is_result_[id] != 0) return false;
      for (int u = users_of_[id]; u < users_of_[id + 1]; ++u)
        if (group[users_[u]] != c && group[users_[u]] != x) return false;
    }
    return true;
  }
  /// Calls `f(group)` once for each group, other than `c`, that reads or is read by a member of it,
  /// or reads with it what lies outside.
  template <class F>
  constexpr void for_each_neighbour(int c, F&& f) {
    ++visit_;
    visited_[c] = visit_;
    const auto meet = [&](int id) {
      ++work_;
      const int x = group[id];
      if (x < 0 || visited_[x] == visit_ || all[x].dead) return;
      visited_[x] = visit_;
      f(x);
    };
    for (int id = first(c); id >= 0; id = next(id)) {
      for (int u = users_of_[id]; u < users_of_[id + 1]; ++u) meet(users_[u]);
      for (int k = 0; k < g.nodes[id].inputs; ++k) {
        const int in = looked_at(g, g.input(id, k));
        meet(in);
        if (g.nodes[in].rank > 0 && group[in] < 0)
          for (int u = users_of_[in]; u < users_of_[in + 1]; ++u) meet(users_[u]);
      }
    }
  }
  /// clang gives an evaluation 2^20 steps; what is not merging takes some hundreds a node.
  [[nodiscard]] static constexpr int most_work(const graph_view& graph) {
    return 24'000 - 20 * graph.node_count;
  }
  /// Whether merging has taken what a graph may cost in the compiler: its step limits are finite,
  /// and a graph with fewer merged groups is as right.
  [[nodiscard]] constexpr bool is_exhausted() const { return work_ > most_work(g); }
  constexpr void spend(int steps) { work_ += steps; }

  /// The nodes of some groups, ascending.
  [[nodiscard]] constexpr list<std::int32_t> members(const list<std::int32_t>& parts) const {
    list<std::int32_t> ids;
    for (std::int32_t p : parts) {
      list<std::int32_t> merged;
      merged.reserve(ids.size() + all[p].nodes);
      int at = first(p);
      for (std::int32_t id : ids) {
        for (; at >= 0 && at < id; at = next(at)) merged.push(at);
        merged.push(id);
      }
      for (; at >= 0; at = next(at)) merged.push(at);
      ids = static_cast<list<std::int32_t>&&>(merged);
    }
    return ids;
  }
  /// What some groups are together; the first of them stays.
  [[nodiscard]] constexpr fusion_group together(const list<std::int32_t>& parts) const {
    fusion_group sum = all[parts[0]];
    for (std::int32_t p : parts) {
      const fusion_group& a = all[p];
      if (a.first < sum.first) sum.first = a.first;
      if (a.last > sum.last) sum.last = a.last;
      if (p == parts[0]) continue;
      if (a.root >= 0 && a.root < sum.root) sum.root = a.root;
      if (a.captured < sum.captured) sum.captured = a.captured;
      if (a.latest > sum.latest) sum.latest = a.latest;
      sum.nodes += a.nodes;
      sum.inputs += a.inputs;
      sum.outputs += a.outputs;
    }
    return sum;
  }
  /// Whether one rows kernel holds some groups, where `sum` counts twice what they share.
  constexpr bool fit_one_kernel(const list<std::int32_t>& parts, const fusion_group& sum) {
    if (sum.nodes + sum.inputs + sum.outputs <= max_operands) return true;
    if (sum.nodes >= max_operands) return false;
    ++visit_;
    work_ += 2 * sum.nodes;
    int size = sum.nodes;
    for (std::int32_t p : parts)
      for (int id = first(p); id >= 0; id = next(id)) {
        for (int k = 0; k < g.nodes[id].inputs; ++k) {
          const int in = looked_at(g, g.input(id, k));
          if (seen_[in] == visit_ || contains(parts, group[in])) continue;
          seen_[in] = visit_;
          ++size;
        }
        bool read = is_result_[id] != 0;
        for (int u = users_of_[id]; u < users_of_[id + 1] && !read; ++u)
          read = !contains(parts, group[users_[u]]);
        size += read;
      }
    return size <= max_operands;
  }
  constexpr void join(const list<std::int32_t>& parts, const fusion_group& sum) {
    const list<std::int32_t> ids = members(parts);
    for (int i = 0; i < ids.size(); ++i) {
      group[ids[i]] = parts[0];
      next_[ids[i]] = i + 1 < ids.size() ? ids[i + 1] : -1;
    }
    for (std::int32_t p : parts) all[p].dead = p != parts[0];
    all[parts[0]] = sum;
    recount(parts[0], ids);
    join_order(parts);
  }
  [[nodiscard]] static constexpr bool contains(const list<std::int32_t>& parts, int x) {
    for (std::int32_t p : parts)
      if (p == x) return true;
    return false;
  }
  /// The group outside through which a value of the groups would reach them again; `nothing` if
  /// none does, `no_group` if it is a node by itself.
  [[nodiscard]] constexpr int comes_back(const list<std::int32_t>& parts) const {
    for (int w = 0; w < words_; ++w) {
      std::uint64_t before = 0, after = 0, own = 0;
      for (std::int32_t p : parts) {
        before |= before_[p * words_ + w];
        after |= after_[p * words_ + w];
        if (p / 64 == w) own |= std::uint64_t{1} << (p % 64);
      }
      const std::uint64_t between = before & after & ~own & ~joined_[w];
      if (between == 0) continue;
      const int unit = w * 64 + __builtin_ctzll(between);
      return unit < all.size() ? unit : no_group;
    }
    return nothing;
  }

 private:
  constexpr void find_captures() {
    for (int id = 0; id < g.node_count; ++id) {
      if (group[id] < 0) continue;
      fusion_group& a = all[group[id]];
      for (int u = users_of_[id]; u < users_of_[id + 1]; ++u) {
        int to = users_[u];
        if (g.nodes[to].region == a.region) continue;
        while (to >= 0 && g.nodes[to].region != a.region) to = g.regions[g.nodes[to].region].owner;
        if (to >= 0 && to < a.captured) a.captured = to;
      }
      for (int k = 0; k < g.nodes[id].inputs; ++k) {
        const int in = g.input(id, k);
        if (group[in] != group[id] && in > a.latest) a.latest = in;
      }
    }
  }
  /// What a group reads and hands on, now that some of it stays inside.
  constexpr void recount(int c, const list<std::int32_t>& ids) {
    ++visit_;
    all[c].inputs = all[c].outputs = 0;
    for (std::int32_t id : ids) {
      for (int k = 0; k < g.nodes[id].inputs; ++k) {
        const int in = looked_at(g, g.input(id, k));
        if (group[in] == c || seen_[in] == visit_) continue;
        seen_[in] = visit_;
        ++all[c].inputs;
      }
      bool read = is_result_[id] != 0;
      for (int u = users_of_[id]; u < users_of_[id + 1] && !read; ++u) read = group[users_[u]] != c;
      all[c].outputs += read;
    }
    work_ += 2 * ids.size();
  }
  constexpr void find_users() {
    seen_.resize(g.node_count, 0);
    is_result_.resize(g.node_count, 0);
    for (int k = 0; k < g.result_count(); ++k) is_result_[looked_at(g, g.result(k))] = 1;
    users_of_.resize(g.node_count + 1, 0);
    const auto each = [&](auto&& f) {
      for (int id = 0; id < g.node_count; ++id) {
        if (is_look(g.kind(id))) continue;
        for (int k = 0; k < g.nodes[id].inputs; ++k) f(looked_at(g, g.input(id, k)), id);
      }
      for (int r = 1; r < g.region_count; ++r)
        for (int k = 0; k < g.regions[r].results; ++k)
          f(looked_at(g, g.result(k, r)), g.regions[r].owner);
    };
    each([&](int in, int) { ++users_of_[in + 1]; });
    for (int id = 0; id < g.node_count; ++id) users_of_[id + 1] += users_of_[id];
    users_.resize(users_of_[g.node_count], -1);
    list<std::int32_t> at = users_of_;
    each([&](int in, int id) { users_[at[in]++] = id; });
  }
  // --- what comes before and after what: units are groups, then nodes outside all groups -------

  [[nodiscard]] constexpr bool has(const list<std::uint64_t>& sets, int unit, int other) const {
    return ((sets[unit * words_ + other / 64] >> (other % 64)) & 1) != 0;
  }
  static constexpr void add(list<std::uint64_t>& sets, int words, int unit, int other) {
    sets[unit * words + other / 64] |= std::uint64_t{1} << (other % 64);
  }
  constexpr void find_order() {
    list<std::int32_t> unit;
    unit.resize(g.node_count, -1);
    int units = all.size();
    for (int id = 0; id < g.node_count; ++id)
      if (group[id] >= 0) unit[id] = group[id];
      else if (g.nodes[id].inputs > 0 && !is_look(g.kind(id)) && g.kind(id) != op_kind::map)
        unit[id] = units++;  // (elementwise ones without a group are numbers that the plan knows)
    words_ = (units + 63) / 64;
    before_.resize(units * words_, 0);
    after_.resize(units * words_, 0);
    joined_.resize(words_, 0);
    list<std::int32_t> edges;  // pairs: from, to
    for (int id = 0; id < g.node_count; ++id)
      for (int u = users_of_[id]; u < users_of_[id + 1]; ++u) {
        if (unit[id] < 0) continue;
        // what an inner region reads, the region's owner waits for
        for (int to = users_[u];;) {
          if (unit[to] != unit[id]) edges.push(unit[id]), edges.push(unit[to]);
          if (g.nodes[to].region <= g.nodes[id].region) break;
          to = g.regions[g.nodes[to].region].owner;
          if (to < 0) break;
        }
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (int e = 0; e < edges.size(); e += 2)
        changed = follows(edges[e], edges[e + 1]) || changed;
    }
    for (int a = 0; a < units; ++a)
      for (int w = 0; w < words_; ++w) {
        std::uint64_t* const to = after_.begin() + w * 64 * words_ + a / 64;
        for (std::uint64_t left = before_[a * words_ + w]; left != 0; left &= left - 1)
          to[__builtin_ctzll(left) * words_] |= std::uint64_t{1} << (a % 64);
      }
  }
  /// `to` comes after `from` and all before it. Whether that is news.
  constexpr bool follows(int from, int to) {
    bool changed = !has(before_, to, from);
    if (changed) add(before_, words_, to, from);
    std::uint64_t* const into = before_.begin() + to * words_;
    const std::uint64_t* const what = before_.begin() + from * words_;
    for (int w = 0; w < words_; ++w) {
      changed = changed || (what[w] & ~into[w]) != 0;
      into[w] |= what[w];
    }
    return changed;
  }
  /// The parts are one unit now, under the number of the first.
  constexpr void join_order(const list<std::int32_t>& parts) {
    const int c = parts[0], words = words_;
    std::uint64_t *before = before_.begin() + c * words, *after = after_.begin() + c * words;
    for (std::int32_t p : parts)
      for (int w = 0; w < words; ++w) {
        before[w] |= before_[p * words + w];
        after[w] |= after_[p * words + w];
      }
    for (std::int32_t p : parts) {  // a unit is neither before nor after itself
      if (p != c) joined_[p / 64] |= std::uint64_t{1} << (p % 64);
      before[p / 64] &= ~(std::uint64_t{1} << (p % 64));
      after[p / 64] &= ~(std::uint64_t{1} << (p % 64));
    }
    spread(before, after, after_.begin(), c);
    spread(after, before, before_.begin(), c);
  }
  /// Every unit of `from` gets `what` and `c` into its set.
  constexpr void spread(const std::uint64_t* from, const std::uint64_t* what, std::uint64_t* sets,
                        int c) {
    const int words = words_;
    for (int w = 0; w < words; ++w) {
      std::uint64_t* to = sets + w * 64 * words;
      for (std::uint64_t left = from[w]; left != 0; left &= left - 1) {
        std::uint64_t* const set = to + __builtin_ctzll(left) * words;
        for (int k = 0; k < words; ++k) set[k] |= what[k];
        set[c / 64] |= std::uint64_t{1} << (c % 64);
        work_ += words;
      }
    }
  }

  list<std::int32_t> next_;              // by node: the next member of its group
  list<std::int32_t> users_of_, users_;  // users of node i: [users_of_[i], users_of_[i + 1])

  int work_ = 0;
  list<char> is_result_;        // by node: the call returns it
  list<std::int32_t> seen_;     // by node
  list<std::int32_t> visited_;  // by group
  std::int32_t visit_ = 0;
  list<std::uint64_t> before_, after_;  // by unit: a set of units, `words_` words each
  list<std::uint64_t> joined_;          // the units that became part of others
  int words_ = 0;
};

}  // namespace calque::detail
