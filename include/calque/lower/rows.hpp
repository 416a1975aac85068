// A rows cluster as programs: what is computed once a row, and the sweeps over its elements.
//
// Phase 2s computes kept values from those before, phase 2s + 1 sweeps each row for the reductions
// whose operands are known by then. A full value that a later sweep needs is computed again if that
// is cheap, else the sweep that has it saves it. Everything that is written element by element is
// written by the last sweep, so that an operand may lie where a result goes.
#pragma once

#include "calque/lower/lower.hpp"

namespace calque::detail {

enum class slot_kind : std::uint8_t {
  full_input,  // element by element
  kept_input,  // once a row; also rank 0
  full_output,
  kept_output,
  kept,  // a value of each row
  saved  // a full value that a later sweep needs
};
struct row_slot {
  slot_kind kind = slot_kind::full_input;
  dtype type = dtype::none;
  bool uniform = false;
  bool of_line = false;  // a full input that is the same in all rows
  int home = -1;         // a saved value: the full output whose place it may take

  /// An operand with an element for each of the domain's.
  [[nodiscard]] constexpr bool is_full() const {
    return kind == slot_kind::full_input || kind == slot_kind::full_output;
  }
};

/// The phases of a cluster, and the slots that its programs read and write: its operands in order,
/// then kept and saved values.
class row_phases {
 public:
  static constexpr int most_slots = max_operands;
  row_slot slots[most_slots]{};
  int slot_count = 0;
  int sweeps = 0;

  constexpr row_phases(const graph_view& g, const cluster& c) : g_(g), rows_(g_, c) {
    find_stages();
    find_values();
    number_slots(c);
  }
  [[nodiscard]] constexpr int count() const { return 2 * sweeps + 1; }
  /// The program of phase `p`; nothing if it has none.
  [[nodiscard]] constexpr code_list program(int p) {
    out_ = code_list{};
    register_of_.clear();
    register_of_.resize(g_.node_count, -1);
    const int stage = p / 2;
    if (p % 2 == 0) once_a_row(stage);
    else sweep(stage);
    return out_;
  }

 private:
  struct facts {
    int stage = 0;      // full: the first sweep that can compute it; kept: the phase
    int cost = 0;       // full: of computing it in a later sweep
    int computed = -1;  // full: the first sweep that does
    bool saved = false, output = false;
    bool used = false;  // kept: by another program than its own
    int slot = -1;      // output, saved or kept value
  };
  static constexpr int cheap = 4;

  [[nodiscard]] constexpr int size() const { return rows_.ids.size(); }
  constexpr facts& at(int i) { return facts_[i]; }
  [[nodiscard]] constexpr bool reduces(int i) const { return rows_.reduces(rows_.ids[i]); }
  /// A `sum_to` of nothing: its input.
  [[nodiscard]] constexpr bool is_alias(int id) const {
    return g_.kind(id) == op_kind::sum_to && !rows_.reduces(id);
  }

  constexpr void find_stages() {
    facts_.resize(size(), {});
    const list<std::int32_t> stages = rows_.stages();
    for (int i = 0; i < size(); ++i) {
      const int id = rows_.ids[i];
      facts& f = at(i);
      f.stage = stages[i];
      if (reduces(i) && f.stage > sweeps) sweeps = f.stage;
      f.cost = is_alias(id) ? 0 : g_.nodes[id].op->cost;
      for (int k = 0; k < g_.nodes[id].inputs; ++k) {
        const int in = rows_.find(rows_.source(id, k));
        if (in >= 0 && rows_.forms[in] == row_form::full)
          f.cost += at(in).cost > cheap ? 1 : at(in).cost;
      }
    }
  }
  constexpr void find_values() {
    const cluster& c = g_.clusters[g_.cluster_number(rows_.ids[0])];
    for (int k = 0; k < c.outputs; ++k) {
      facts& f = at(rows_.find(g_.pool[c.first_output + k]));
      f.output = true;
      if (rows_.form(g_.pool[c.first_output + k]) == row_form::full && f.stage + 1 > sweeps)
        sweeps = f.stage + 1;
    }
    list<int> seen;  // by position: the last sweep that asked for it
    seen.resize(size(), -1);
    for (int s = 0; s < sweeps; ++s)
      for (int i = 0; i < size(); ++i) {
        if (reduces(i) && at(i).stage == s + 1) need(rows_.source(rows_.ids[i], 0), s, seen);
        if (at(i).output && rows_.forms[i] == row_form::full && s == sweeps - 1)
          need(rows_.ids[i], s, seen);
        if (is_kept(rows_.forms[i]) && !reduces(i))
          for (int k = 0; k < g_.nodes[rows_.ids[i]].inputs; ++k)
            use_kept(rows_.source(rows_.ids[i], k), at(i).stage);
      }
  }
  /// What is read where `id` is: sums of nothing are looked through.
  [[nodiscard]] constexpr int read_of(int id) const {
    while (rows_.find(id) >= 0 && is_alias(id)) id = rows_.source(id, 0);
    return id;
  }
  /// A kept program of phase `stage` reads a value: it has a slot unless the same program has it.
  constexpr void use_kept(int id, int stage) {
    const int i = rows_.find(read_of(id));
    if (i < 0) return;
    if (rows_.forms[i] == row_form::uniform) {
      for (int k = 0; k < g_.nodes[id].inputs; ++k) use_kept(rows_.source(id, k), stage);
      return;
    }
    if (reduces(i) || at(i).stage < stage) at(i).used = true;
  }
  /// Sweep `s` needs a value.
  constexpr void need(int id, int s, list<int>& seen) {
    int i = rows_.find(id);
    if (i < 0 || seen[i] == s) return;
    seen[i] = s;
    if (is_kept(rows_.forms[i])) {
      if (i = rows_.find(read_of(id)); i < 0) return;
      at(i).used = true;
      return;
    }
    if (rows_.forms[i] == row_form::full) {
      if (at(i).computed >= 0 && at(i).cost > cheap) {
        at(i).saved = true;
        return;
      }
      if (at(i).computed < 0) at(i).computed = s;
    }
    for (int k = 0; k < g_.nodes[id].inputs; ++k) need(rows_.source(id, k), s, seen);
  }

  constexpr void number_slots(const cluster& c) {
    const cluster_inputs in = inputs_of_rows(rows_);
    for (int id : in.body) add_slot(slot_kind::full_input, id);
    first_kept_input_ = slot_count;
    for (int id : in.tail) add_slot(slot_kind::kept_input, id);
    for (int k = 0; k < c.outputs; ++k) {
      const int id = g_.pool[c.first_output + k];
      at(rows_.find(id)).slot = slot_count;
      add_slot(rows_.form(id) == row_form::full ? slot_kind::full_output : slot_kind::kept_output,
               id);
    }
    body_ = in.body;
    tail_ = in.tail;
    for (int i = 0; i < size(); ++i) {
      const bool kept = is_kept(rows_.forms[i]);
      if (kept ? at(i).slot < 0 && (at(i).used || reduces(i)) : at(i).saved && at(i).slot < 0) {
        at(i).slot = slot_count;
        add_slot(kept ? slot_kind::kept : slot_kind::saved, rows_.ids[i]);
      } else if (at(i).saved) {  // an output is written by the last sweep, and saved before
        saved_slot_of_output_.push(i);
        saved_slot_of_output_.push(slot_count);
        add_slot(slot_kind::saved, rows_.ids[i]);
      }
    }
  }
  constexpr void add_slot(slot_kind kind, int id) {
    slots[slot_count++] = {kind, g_.nodes[id].type,
                           kind <= slot_kind::kept_input && g_.nodes[id].rank == 0,
                           kind == slot_kind::full_input && is_of_line(g_.nodes[id])};
  }
  /// Whether a value is known to have extent 1 along every kept axis.
  [[nodiscard]] constexpr bool is_of_line(const node& n) const {
    const int missing = rows_.axes.rank() - n.rank;
    for (int a = missing < 0 ? 0 : missing; a < rows_.axes.rank(); ++a)
      if (!rows_.axes.reduced(a) && !g_.is_literal(n.dims[a - missing], 1)) return false;
    return n.rank > 0;
  }
  [[nodiscard]] constexpr int saved_slot(int i) const {
    for (int k = 0; k < saved_slot_of_output_.size(); k += 2)
      if (saved_slot_of_output_[k] == i) return saved_slot_of_output_[k + 1];
    return facts_[i].slot;
  }

  // --- code ------------------------------------------------------------------------------------

  constexpr void once_a_row(int stage) {
    const auto here = [&](int i) {
      if (reduces(i) || at(i).slot < 0) return false;
      return is_kept(rows_.forms[i]) ? at(i).stage == stage
                                     : rows_.forms[i] == row_form::uniform && stage == sweeps;
    };
    for (int i = 0; i < size(); ++i)
      if (here(i)) (void)value(rows_.ids[i], stage, false);
    for (int i = 0; i < size(); ++i)  // last: a result may lie where an operand is
      if (here(i)) store(i, at(i).slot);
  }
  constexpr void sweep(int stage) {
    list<code> folds;
    for (int i = 0; i < size(); ++i)
      if (reduces(i) && at(i).stage == stage + 1) {
        code f;
        f.kind = code_kind::fold;
        f.out = g_.nodes[rows_.ids[i]].type;
        f.key = g_.kind(rows_.ids[i]) == op_kind::sum_to ? hash_name("sum")
                                                         : g_.nodes[rows_.ids[i]].op->key;
        f.src[0] = value(rows_.source(rows_.ids[i], 0), stage, true);
        f.operand = at(i).slot;
        folds.push(f);
      }
    const bool last = stage == sweeps - 1;
    for (int i = 0; i < size(); ++i)
      if (rows_.forms[i] == row_form::full && at(i).output && last)
        (void)value(rows_.ids[i], stage, true);
    for (int i = 0; i < size(); ++i) {
      if (rows_.forms[i] != row_form::full) continue;
      if (at(i).saved && at(i).computed == stage) store(i, saved_slot(i));
      if (at(i).output && last) store(i, at(i).slot);
    }
    for (const code& f : folds) out_.push(f);
  }
  /// The register of a value in the program of stage `stage`: of a sweep, or once a row.
  constexpr int value(int id, int stage, bool sweep) {
    if (register_of_[id] >= 0) return register_of_[id];
    const int i = rows_.find(id);
    int r = -1;
    if (i < 0) {
      r = outside(id, sweep);
    } else if (is_alias(id)) {
      r = value(rows_.source(id, 0), stage, sweep);
    } else if (is_kept(rows_.forms[i]) && (sweep || reduces(i) || at(i).stage < stage)) {
      r = load(sweep ? code_kind::row : code_kind::load, id, at(i).slot);
    } else if (rows_.forms[i] == row_form::full && at(i).saved && at(i).computed < stage) {
      r = load(code_kind::load, id, saved_slot(i));
    } else {
      const node& n = g_.nodes[id];
      code c;
      c.kind = code_kind::map;
      c.out = n.type;
      c.key = n.op->key;
      c.sources = n.inputs;
      for (int k = 0; k < n.inputs; ++k) c.src[k] = value(rows_.source(id, k), stage, sweep);
      c.in = g_.input_node(id, n.op->form == map_form::select ? 1 : 0).type;
      r = out_.push(c);
    }
    register_of_[id] = r;
    return r;
  }
  constexpr int outside(int id, bool sweep) {
    const bool uniform = g_.nodes[id].rank == 0;
    if (sweep)
      for (int k = 0; k < body_.size(); ++k)
        if (body_[k] == id)
          return load(uniform                   ? code_kind::splat
                      : index_seen(g_, id) >= 0 ? code_kind::count
                                                : code_kind::load,
                      id, k);
    for (int k = 0; k < tail_.size(); ++k)
      if (tail_[k] == id)
        return load(uniform ? code_kind::splat
                    : sweep ? code_kind::row
                            : code_kind::load,
                    id, first_kept_input_ + k);
    return -1;
  }
  constexpr int load(code_kind kind, int id, int slot) {
    code c;
    c.kind = kind;
    c.out = g_.nodes[id].type;
    c.operand = slot;
    return out_.push(c);
  }
  constexpr void store(int i, int slot) {
    code c;
    c.kind = code_kind::store;
    c.out = g_.nodes[rows_.ids[i]].type;
    c.operand = slot;
    c.src[0] = register_of_[rows_.ids[i]];
    out_.push(c);
  }

  graph_view g_;
  row_set rows_;
  list<facts> facts_;
  list<std::int32_t> body_, tail_, saved_slot_of_output_, register_of_;
  int first_kept_input_ = 0;
  code_list out_;
};

}  // namespace calque::detail
