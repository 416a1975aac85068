// Where each value of a call lives and each step runs: a pure function of graph, sizes and devices.
//
// What computes runs where a guard in the body asks, else where the guard around the call does,
// else on the default device. Values of arguments and variables are where they are; what only looks
// at a value stays with it; numbers and counted indices are anywhere. Called by placed_graph.hpp,
// which adds the transfers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "calque/core/device.hpp"
#include "calque/graph/guard_stack.hpp"
#include "calque/graph/leaves.hpp"
#include "calque/plan/overlap.hpp"
#include "calque/plan/sizes.hpp"

namespace calque::detail::planning {

/// Devices of a plan by number: 0 is the host.
inline constexpr int anywhere = -1, on_host = 0;

/// Why a node is where it is.
enum class place_reason : std::uint8_t {
  number,     // kernels get its value, or count it
  argument,   // where it was passed
  variable,   // with its variable
  look,       // with what it looks at
  body,       // a guard in the body
  call,       // the guard around the call
  standard,   // the default device
  loop,       // a state of a loop, or a result of a branch
  no_device,  // soft placement: there is none of the name asked for
  no_kernel,  // soft placement: what was asked for has no kernel
  transfer    // a copy for who reads it there
};
[[nodiscard]] constexpr const char* text_of(place_reason r) {
  switch (r) {
    case place_reason::number: return "a number, which kernels get by value";
    case place_reason::argument: return "an argument stays where it was passed";
    case place_reason::variable: return "with its variable";
    case place_reason::look: return "a view stays with its data";
    case place_reason::body: return "asked for by a guard in the body";
    case place_reason::call: return "the guard around the call";
    case place_reason::standard: return "the default device";
    case place_reason::loop: return "with its branch or loop";
    case place_reason::no_device: return "soft placement: there is no device of the name asked for";
    case place_reason::no_kernel:
      return "soft placement: the device asked for has no kernel for it";
    default: return "copied for who reads it";
  }
}

/// The same in a plan that stays on the host.
[[nodiscard]] constexpr place_reason reason_on_host(const graph_view& g, int id, bool guarded) {
  switch (g.kind(id)) {
    case op_kind::input: return place_reason::argument;
    case op_kind::variable:
    case op_kind::read:
    case op_kind::assign: return place_reason::variable;
    case op_kind::scalar:
    case op_kind::constant:
    case op_kind::extent:
    case op_kind::iota:
    case op_kind::entry: return place_reason::number;
    case op_kind::region_arg:
    case op_kind::result: return place_reason::loop;
    default: break;
  }
  if (passes_on(g.kind(id))) return place_reason::look;
  const std::string_view asked = asked_device(g.device(g.nodes[id]));
  if (argument_of(asked) >= 0) return place_reason::body;
  if (!asked.empty())
    return is_host_name(device_name{asked}) ? place_reason::body : place_reason::no_device;
  return guarded ? place_reason::call : place_reason::standard;
}

class placement {
 public:
  std::vector<device_entry*> devices{nullptr};
  std::vector<std::int32_t> of;       // by node: the device's number, or `anywhere`
  std::vector<place_reason> reasons;  // by node

  placement(const sized_graph& s, const graph_facts& facts, const call_request& r)
      : s_(s), g_(s.g), facts_(facts), r_(r) {
    here_ = number_of(r.where);
    for (int i = 0; i < r.named_count; ++i) named_.push_back(number_of(r.named[i]));
    for (int k = 0; r.outputs != nullptr && k < r.output_count; ++k)
      (void)number_of(r.outputs[k].place);
    of.assign(static_cast<std::size_t>(g_.node_count), anywhere);
    reasons.assign(static_cast<std::size_t>(g_.node_count), place_reason::number);
    for (int id = 0; id < g_.node_count; ++id) {
      place_reason& why = reasons[static_cast<std::size_t>(id)];
      of[static_cast<std::size_t>(id)] = place(id, why);
    }
  }
  /// The device of a node's value.
  [[nodiscard]] int at(int id) const { return of[static_cast<std::size_t>(id)]; }
  /// Where result `k` goes: where its destination is, or where it was computed.
  [[nodiscard]] int of_result(int k) const {
    if (r_.outputs != nullptr) return number_of_known(r_.outputs[k].place);
    const int d = at(g_.result(k));
    return d == anywhere ? here_ : d;
  }

 private:
  [[nodiscard]] int number_of_known(const device_entry* d) const {
    return static_cast<int>(std::find(devices.begin(), devices.end(), d) - devices.begin());
  }
  int number_of(device_entry* d) {
    if (d != nullptr && d->gone.load(std::memory_order_acquire))
      throw device_error("plan: " + d->name + " is gone; take one of the present devices");
    const int i = number_of_known(d);
    if (i == static_cast<int>(devices.size())) devices.push_back(d);
    return i;
  }
  int place(int id, place_reason& why) {
    const node& n = g_.nodes[id];
    switch (n.op->kind) {
      case op_kind::input: why = place_reason::argument; return number_of(r_.leaves[n.index].place);
      case op_kind::variable:
        why = place_reason::variable;
        return number_of(r_.leaves[n.index].place);
      case op_kind::read:
      case op_kind::assign: why = place_reason::variable; return at(g_.input(id, 0));
      case op_kind::scalar:
      case op_kind::constant:
      case op_kind::extent:
      case op_kind::entry:
      case op_kind::iota: return anywhere;
      case op_kind::region_arg: why = place_reason::loop; return of_argument(id);
      case op_kind::result: why = place_reason::loop; return at(g_.input(id, 0));
      default:
        if (passes_on(n.op->kind)) {
          const int seen = at(g_.input(id, 0));
          if (seen != anywhere) why = place_reason::look;
          return seen;
        }
        if (s_.is_number(id)) return anywhere;
        return for_kernel(id, why);
    }
  }
  /// Where a node was asked to run, else where the call does.
  [[nodiscard]] int asked(int id, place_reason& why) const {
    const int i = g_.nodes[id].device < 0 ? -1 : facts_.number_of(g_.nodes[id].device);
    const std::string_view name = asked_device(g_.device(g_.nodes[id]));
    if (i < 0 || i >= static_cast<int>(named_.size()) || name.empty()) {
      why = r_.guarded ? place_reason::call : place_reason::standard;
      return here_;
    }
    const int at = named_[static_cast<std::size_t>(i)];
    if (r_.locked && at != here_) refuse_locked(id, at);
    if (argument_of(name) >= 0) {
      why = place_reason::body;
      return at;
    }
    why = is_there(device_name{name}, at) ? place_reason::body : place_reason::no_device;
    return at;
  }
  [[noreturn]] void refuse_locked(int id, int at) const {
    const auto name = [this](int d) {
      return d == on_host ? "cpu:0" : devices[static_cast<std::size_t>(d)]->name;
    };
    const node& n = g_.nodes[id];
    throw placement_error("plan: " + std::string(n.op->name) + " of " + s_.text(id) +
                          where_text(g_, n) + " asks for " + name(at) +
                          ", but the call is locked to " + name(here_) +
                          "; take cq::lock_device away, or the guard in the body");
  }
  /// Whether it is the device of that name which was found.
  [[nodiscard]] bool is_there(const device_name& name, int at) const {
    if (is_host_name(name) || at == on_host) return is_host_name(name) == (at == on_host);
    device_table& t = devices_of_process();
    const std::lock_guard lock(t.mutex);
    bool there = false;
    for_each_visible(t, [&](const device_entry* e, int of_kind) {
      there = there || (e == devices[static_cast<std::size_t>(at)] && is_called(*e, of_kind, name));
    });
    return there;
  }
  /// The index of a loop is anywhere; a state is where the loop's are; what is scanned stays.
  int of_argument(int id) const {
    const int owner = g_.regions[g_.nodes[id].region].owner, k = g_.nodes[id].index;
    if (k == 0) return anywhere;
    place_reason why{};
    if (k <= g_.nodes[owner].index) return asked(owner, why);
    return at(g_.input(owner, k));
  }
  int for_kernel(int id, place_reason& why) {
    const int at = asked(id, why);
    const device_entry* const d = devices[static_cast<std::size_t>(at)];
    if (d == nullptr || has_kernels(*d, id)) return at;
    const node& n = g_.nodes[id];
    const bool soft = r_.soft || is_soft(g_.device(n));
    if (soft && why != place_reason::standard) why = place_reason::no_kernel;
    if (soft || why == place_reason::standard) return number_of(next_default(id));
    std::string operands, others = "cpu:0";
    for (int k = 0; k < n.inputs; ++k)
      operands.append(k ? ", " : "").append(s_.text(g_.input(id, k)));
    device_table& t = devices_of_process();
    const std::lock_guard lock(t.mutex);
    for_each_visible(t, [&](const device_entry* e, int) {
      if (has_kernels(*e, id)) others.append(", ").append(e->name);
    });
    throw placement_error("plan: " + d->name + " has no kernel for " + std::string(n.op->name) +
                          "(" + operands + ")" + where_text(g_, n) +
                          "; devices that have one: " + others);
  }
  /// Whether a device has kernels for a node and all that its cluster computes with it.
  [[nodiscard]] bool has_kernels(const device_entry& d, int id) const {
    if (d.missing.empty()) return true;
    const auto has = [&](int i) {
      return std::find(d.missing.begin(), d.missing.end(), g_.nodes[i].op->name) == d.missing.end();
    };
    const int c = g_.cluster_number(id);
    bool all = has(id);
    for (int i = 0; c >= 0 && i < g_.clusters[c].nodes; ++i)
      all = all && has(g_.pool[g_.clusters[c].first + i]);
    return all;
  }
  /// The visible device of the highest priority that has the kernels; null for the host. Held until
  /// the plan holds its devices itself.
  [[nodiscard]] device_entry* next_default(int id) {
    held_.push_back(default_device_for([&](const device_entry& e) { return has_kernels(e, id); }));
    return held_.back().get();
  }

  const sized_graph& s_;
  const graph_view& g_;
  const graph_facts& facts_;
  const call_request& r_;
  std::vector<int> named_;  // by number among the graph's names: the device's
  std::vector<device_ref> held_;
  int here_ = on_host;
};

}  // namespace calque::detail::planning
