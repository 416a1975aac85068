// Reverse mode on the nodes of a graph under construction: from derivatives of some nodes to
// derivatives with respect to others, through elementwise operations, reductions and regions.
//
// A `cond` gives a `cond` whose branches compute their forward part again. A `loop` records its
// states on the way forward and gives a loop that runs from the last step to the first.
#pragma once

#include "calque/ops/arithmetic.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/extents.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/views.hpp"

namespace calque::detail {

using id_list = list<std::int32_t>;

class backward {
 public:
  constexpr explicit backward(builder& out) : b_(out) {}

  /// Derivatives with respect to `wrt`, given those of `outputs` (`seeds`, -1 for none), through
  /// the nodes [first, last) of the open region. A result of -1 means zero. `masked`: the seeds are
  /// zero where a choice was not taken.
  constexpr id_list run(int first, int last, const id_list& outputs, const id_list& seeds,
                        const id_list& wrt, bool masked = false) {
    const int count = b_.g.nodes.size(), region = b_.open();
    adjoints adjoint;
    adjoint.id.resize(count, -1);
    adjoint.masked.resize(count, masked);
    const list<bool> active = reached(first, last, wrt);
    list<std::int32_t> owner_results;  // triples: owner, result's number, derivative
    for (int k = 0; k < outputs.size(); ++k)
      if (seeds[k] >= 0) accumulate(adjoint, outputs[k], seeds[k]);
    id_list stop;
    stop.resize(count, 0);
    for (int w : wrt) stop[w] = 1;
    for (int id = last - 1; id >= first; --id) {
      const node n = b_.at(id);
      if (n.region != region || !active[id] || stop[id]) continue;
      const bool owner = n.op->kind == op_kind::cond || n.op->kind == op_kind::loop;
      if (adjoint.id[id] < 0 && !owner) continue;
      if (n.op->kind == op_kind::result) {
        owner_results.push(b_.input(id, 0));
        owner_results.push(n.index);
        owner_results.push(adjoint.id[id]);
        if (adjoint.masked[id]) adjoint.masked[b_.input(id, 0)] = true;
      } else if (owner) {
        id_list seed;
        seed.resize(results_of(n), -1);
        bool any = false;
        for (int i = 0; i < owner_results.size(); i += 3)
          if (owner_results[i] == id) {
            int& s = seed[owner_results[i + 1]];
            s = s < 0 ? owner_results[i + 2] : sum(s, owner_results[i + 2]);
            any = true;
          }
        if (!any) continue;
        if (n.op->kind == op_kind::cond) through_cond(id, seed, active, adjoint);
        else through_loop(id, seed, active, adjoint);
      } else if (n.op->kind == op_kind::marker) {
        flow(adjoint, b_.input(id, 0), adjoint.id[id], adjoint.masked[id]);
      } else if (n.op->differentiable) {
        b_.where = {n.line, n.file, n.function};
        b_.device = n.device;
        apply_rule(id, active, adjoint);
      }
    }
    b_.device = -1;
    id_list r;
    for (int w : wrt) r.push(adjoint.id[w]);
    return r;
  }

  /// Zeros of the extents and type of node `like`.
  constexpr int zeros_like(int like) {
    const node n = b_.at(like);
    return op::broadcast_to::build(b_, b_.number(n.type, 0), n.rank, n.dims);
  }

 private:
  /// By node: its derivative so far, and whether that is zero where some choice was not taken.
  struct adjoints {
    id_list id;
    list<bool> masked;
  };

  constexpr int sum(int a, int c) { return b_.map_of<op::add>(b_.at(a).type, a, c); }
  constexpr void accumulate(adjoints& adjoint, int id, int v) {
    adjoint.id[id] = adjoint.id[id] < 0 ? v : sum(adjoint.id[id], v);
  }
  /// Adds contribution `v` to node `id`, summed down to its extents.
  constexpr void flow(adjoints& adjoint, int id, int v, bool masked = true) {
    if (!is_floating(b_.at(id).type)) return;
    const node n = b_.at(id);
    accumulate(adjoint, id, op::sum_to::build(b_, v, n.rank, n.dims));
    if (masked) adjoint.masked[id] = true;
  }
  /// The contributions of node `id`'s own rule. One that chooses makes zeros, which an infinite
  /// slope further up must not turn into NaN.
  constexpr void apply_rule(int id, const list<bool>& active, adjoints& adjoint) {
    const node n = b_.at(id);
    const int dy = adjoint.id[id], before = b_.g.nodes.size();
    gradient_rule rule{b_, id, {&b_, dy}};
    n.op->gradient(rule);
    bool masked = adjoint.masked[id];
    const bool guarded = masked && n.op->kind == op_kind::map && n.op->form == map_form::same;
    for (int i = before; i < b_.g.nodes.size(); ++i)
      masked = masked || b_.at(i).op->form == map_form::select;
    for (int k = 0; k < n.inputs && k < rule.contribution.size(); ++k) {
      const int c = rule.contribution[k];
      if (c < 0 || !active[b_.input(id, k)]) continue;
      const bool linear =
          c == dy || (b_.at(c).op->key == op_info_of<op::neg>.key && b_.input(c, 0) == dy);
      flow(adjoint, b_.input(id, k), guarded && !linear ? settled(dy, c) : c, masked);
    }
  }
  /// `c`, but 0 where it is NaN although `dy` is 0. Where it is a number it stays differentiable.
  constexpr int settled(int dy, int c) {
    const dtype t = b_.at(c).type;
    const int zero = b_.number(t, 0);
    const int none = b_.map_of<op::equal>(dtype::boolean, dy, zero);
    const int number = b_.map_of<op::equal>(dtype::boolean, c, c);
    return b_.map_of<op::where>(t, number, c, b_.map_of<op::where>(t, none, zero, c));
  }
  constexpr int results_of(const node& n) const { return b_.g.regions[n.body0].results; }

  /// Nodes of [first, last) that depend on `wrt`; an owner depends on what its regions capture.
  constexpr list<bool> reached(int first, int last, const id_list& wrt) const {
    list<bool> active;
    active.resize(b_.g.nodes.size(), false);
    for (int w : wrt) active[w] = true;
    for (int id = first; id < last; ++id) {
      const node& n = b_.at(id);
      if (n.op->kind == op_kind::stop_gradient || n.op->kind == op_kind::gradient) continue;
      bool a = active[id];
      for (int k = 0; k < n.inputs; ++k) a = a || active[b_.input(id, k)];
      for (int body : {n.body0, n.body1}) {
        if (body < 0) continue;
        const region& r = b_.g.regions[body];
        for (int i = r.first; i < r.last; ++i) a = a || active[i];
        for (int k = 0; k < r.results; ++k) a = a || active[b_.g.pool[r.first_result + k]];
      }
      active[id] = a;
      if (n.op->kind == op_kind::loop && a) {  // what enters a loop may reach all its steps
        const region& r = b_.g.regions[n.body0];
        for (int i = 0; i < r.arguments; ++i) active[r.first + 1 + i] = i > 0;
        for (int i = r.first + 1 + r.arguments; i < r.last; ++i)
          for (int k = 0; k < b_.at(i).inputs; ++k) active[i] = active[i] || active[b_.input(i, k)];
      }
    }
    return active;
  }

  /// Floating nodes outside the regions, reached by `wrt`, that the regions read.
  constexpr id_list captures(int body0, int body1, const list<bool>& active) const {
    id_list found;
    list<bool> seen;
    seen.resize(b_.g.nodes.size(), false);
    for (int body : {body0, body1}) {
      if (body < 0) continue;
      const region& r = b_.g.regions[body];
      const int outside = b_.g.regions[body0].first;
      for (int i = r.first; i < r.last; ++i)
        for (int k = 0; k < b_.at(i).inputs; ++k)
          capture(b_.input(i, k), outside, active, seen, found);
      for (int k = 0; k < r.results; ++k)
        capture(b_.g.pool[r.first_result + k], outside, active, seen, found);
    }
    return found;
  }
  constexpr void capture(int id, int outside, const list<bool>& active, list<bool>& seen,
                         id_list& found) const {
    if (id >= outside || !active[id] || seen[id] || !is_floating(b_.at(id).type)) return;
    seen[id] = true;
    found.push(id);
  }

  /// Computes region `r`'s nodes again in the open region; `map` gives the stand-ins of nodes that
  /// have one already. Effects are not repeated.
  constexpr void repeat(int r, id_list& map) {
    const region whole = b_.g.regions[r];
    id_list regions, inputs;  // pairs: old region, new region
    const auto mapped = [&](int id) { return id < map.size() && map[id] >= 0 ? map[id] : id; };
    const auto mapped_region = [&](int old) {
      for (int i = 0; i < regions.size(); i += 2)
        if (regions[i] == old) return regions[i + 1];
      return -1;
    };
    const int here = b_.g.regions[b_.open()].first;
    map[whole.first] = here;
    id_list inside;
    const auto close = [&] {
      const region old = b_.g.regions[inside.back()];
      inputs.clear();
      for (int k = 0; k < old.results; ++k) inputs.push(mapped(b_.g.pool[old.first_result + k]));
      b_.end_region(inputs.begin(), inputs.size());
      inside.pop();
    };
    for (int id = whole.first + 1 + whole.arguments; id < whole.last; ++id) {
      while (!inside.empty() && b_.g.regions[inside.back()].last == id) close();
      const node n = b_.at(id);
      if (n.op->kind == op_kind::assign) continue;
      if (n.op->kind == op_kind::entry) {
        regions.push(n.region);
        regions.push(b_.begin_region(false));
        inside.push(n.region);
        map[id] = b_.g.nodes.size() - 1;
        continue;
      }
      inputs.clear();
      for (int k = 0; k < n.inputs; ++k) inputs.push(mapped(b_.input(id, k)));
      const int made = b_.append(n, inputs.begin(), inputs.size());
      b_.g.nodes[made].name = -1;
      if (n.op->kind == op_kind::region_arg) ++b_.g.regions[b_.open()].arguments;
      if (n.body0 >= 0)
        b_.own(made, mapped_region(n.body0), n.body1 < 0 ? -1 : mapped_region(n.body1));
      map[id] = made;
      if (!inside.empty() && id + 1 == whole.last) close();
    }
  }
  constexpr id_list identity_map() const {
    id_list map;
    map.resize(b_.g.nodes.size(), -1);
    return map;
  }

  /// The extent of what a loop of `steps` records; a negative number of steps means none.
  constexpr int extent_of_steps(int steps) {
    const int d = b_.canonical(dim_of_node(b_, steps));
    if (b_.g.dims[d].kind == dim_kind::argument) return d;
    return b_.arithmetic_dim(dim_kind::maximum, d, b_.literal_dim(0));
  }

  constexpr void through_cond(int id, const id_list& seed, const list<bool>& active,
                              adjoints& adjoint) {
    const node n = b_.at(id);
    const id_list found = captures(n.body0, n.body1, active);
    const int predicate = b_.input(id, 0);
    int made[2] = {-1, -1};
    for (int branch = 0; branch < 2; ++branch) {
      const int body = branch == 0 ? n.body0 : n.body1;
      made[branch] = b_.begin_region(false);
      id_list map = identity_map(), outputs;
      const int first = b_.g.nodes.size();
      repeat(body, map);
      for (int k = 0; k < b_.g.regions[body].results; ++k) {
        const int o = b_.g.pool[b_.g.regions[body].first_result + k];
        outputs.push(map[o] >= 0 ? map[o] : o);
      }
      id_list grads = run(first, b_.g.nodes.size(), outputs, seed, found, adjoint.masked[id]);
      for (int k = 0; k < found.size(); ++k)
        if (grads[k] < 0) grads[k] = zeros_like(found[k]);
      b_.end_region(grads.begin(), grads.size());
    }
    const int owner = b_.append_with(builder::make<op::cond>(dtype::none), predicate);
    b_.own(owner, made[0], made[1]);
    for (int k = 0; k < found.size(); ++k)
      flow(adjoint, found[k], b_.result_of(owner, k, b_.at(found[k])));
  }

  constexpr void through_loop(int id, const id_list& seed, const list<bool>& active,
                              adjoints& adjoint) {
    const node n = b_.at(id);
    const int body = n.body0, carried = n.index;
    const region r = b_.g.regions[body];
    const int steps = b_.input(id, 0), trip = extent_of_steps(steps);
    const id_list found = captures(body, -1, active);
    const int scanned = n.inputs - 1 - carried, stacked = r.results - carried;

    // forward: every state at the start of each step is recorded as a stacked output
    id_list results, tape;
    for (int k = 0; k < r.results; ++k) results.push(b_.g.pool[r.first_result + k]);
    for (int k = 0; k < carried; ++k) results.push(r.first + 2 + k);
    const int at = b_.g.add_to_pool(results.begin(), results.size());
    b_.g.regions[body].first_result = at;
    b_.g.regions[body].results = results.size();
    for (int k = 0; k < carried; ++k) {
      node like = b_.at(r.first + 2 + k);
      for (int i = like.rank; i > 0; --i) like.dims[i] = like.dims[i - 1];
      like.dims[0] = trip;
      ++like.rank;
      tape.push(b_.result_of(id, r.results + k, like));
    }

    // backward: states' derivatives are carried, captures' are summed up on the way
    id_list inputs, slots;  // slots: carried states that have derivatives
    inputs.push(steps);
    for (int k = 0; k < carried; ++k)
      if (is_floating(b_.at(r.first + 2 + k).type)) {
        slots.push(k);
        inputs.push(seed[k] >= 0 ? seed[k] : zeros_like(r.first + 2 + k));
      }
    for (int c : found) inputs.push(zeros_like(c));
    const int carried_back = inputs.size() - 1;
    for (int t : tape) inputs.push(t);
    for (int k = 0; k < scanned; ++k) inputs.push(b_.input(id, 1 + carried + k));
    id_list stacks;
    for (int k = 0; k < stacked; ++k)
      if (seed[carried + k] >= 0) {
        stacks.push(k);
        inputs.push(seed[carried + k]);
      }
    const int made = b_.begin_region(true);
    const int index = b_.region_argument(builder::make<op::region_arg>(dtype::int64));
    id_list states_back, sums, outputs, seeds, wrt;
    for (int k : slots) states_back.push(b_.region_argument(b_.at(r.first + 2 + k)));
    for (int c : found) sums.push(b_.region_argument(b_.at(c)));
    id_list map = identity_map();
    map[r.first + 1] = index;
    for (int k = 0; k < carried; ++k)
      map[r.first + 2 + k] = b_.region_argument(b_.at(r.first + 2 + k));
    for (int k = 0; k < scanned; ++k)
      map[r.first + 2 + carried + k] = b_.region_argument(b_.at(r.first + 2 + carried + k));
    const auto now = [&](int old) { return map[old] >= 0 ? map[old] : old; };
    id_list stack_seeds;
    for (int k : stacks) stack_seeds.push(b_.region_argument(b_.at(results[carried + k])));
    const int first = b_.g.nodes.size();
    repeat(body, map);
    for (int k = 0; k < slots.size(); ++k) {
      outputs.push(now(results[slots[k]]));
      seeds.push(states_back[k]);
    }
    for (int k = 0; k < stacks.size(); ++k) {
      outputs.push(now(results[carried + stacks[k]]));
      seeds.push(stack_seeds[k]);
    }
    for (int k : slots) wrt.push(map[r.first + 2 + k]);
    for (int c : found) wrt.push(c);
    id_list slices;
    for (int k = 0; k < scanned; ++k)
      if (active[b_.input(id, 1 + carried + k)] &&
          is_floating(b_.at(r.first + 2 + carried + k).type)) {
        slices.push(k);
        wrt.push(map[r.first + 2 + carried + k]);
      }
    id_list grads = run(first, b_.g.nodes.size(), outputs, seeds, wrt, true);
    for (int k = 0; k < grads.size(); ++k) {
      const bool summed = k >= slots.size() && k < slots.size() + found.size();
      if (summed) {
        const int so_far = sums[k - slots.size()];
        grads[k] = grads[k] < 0 ? so_far : sum(so_far, grads[k]);
      } else if (grads[k] < 0) {
        grads[k] = zeros_like(wrt[k]);
      }
    }
    b_.end_region(grads.begin(), grads.size());
    node back = builder::make<op::loop>(dtype::none);
    back.index = carried_back;
    back.reverse = !n.reverse;
    const int owner = b_.append(back, inputs.begin(), inputs.size());
    b_.own(owner, made, -1);
    for (int k = 0; k < slots.size(); ++k)
      flow(adjoint, b_.input(id, 1 + slots[k]),
           b_.result_of(owner, k, b_.at(r.first + 2 + slots[k])));
    for (int k = 0; k < found.size(); ++k)
      flow(adjoint, found[k], b_.result_of(owner, slots.size() + k, b_.at(found[k])));
    for (int k = 0; k < slices.size(); ++k) {
      const int x = b_.input(id, 1 + carried + slices[k]);
      flow(adjoint, x, b_.result_of(owner, carried_back + k, b_.at(x)));
    }
  }

  builder& b_;
};

}  // namespace calque::detail
