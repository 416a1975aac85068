// What a rows cluster's programs make of its kernel: the loops of every phase at each instruction
// set, as constexpr tables that the walk in rows.hpp goes through.
#pragma once

#include <array>

#include "calque/backend/cpu/rows.hpp"

namespace calque::detail {

template <isa L, class P>
constexpr tile_function map_at() {
  if constexpr (L == isa::avx512) return &map_avx512<P>;
  else if constexpr (L == isa::avx2) return &map_avx2<P>;
  else return &map_baseline<P>;
}
template <isa L, class P>
constexpr auto sweep_at() {
  if constexpr (L == isa::avx512) return &sweep_avx512<P>;
  else if constexpr (L == isa::avx2) return &sweep_avx2<P>;
  else return &sweep_baseline<P>;
}

/// A sweep's reductions and slots.
template <isa L, class P>
struct sweep_tables;
template <isa L, class... I>
struct sweep_tables<L, program<I...>> {
  static constexpr int count = (is_fold<I> + ... + 0);
  static constexpr auto folds() {
    std::array<row_fold_entry, count + 1> all{};
    int n = 0;
    (add(all[static_cast<std::size_t>(n)], n, I{}), ...);
    return all;
  }
  static constexpr auto used() {
    std::array<bool, max_operands + 2> all{};
    constexpr auto bytes = sweep_traits<program<I...>>::bytes();
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] = bytes.loaded[k] != 0 || bytes.stored[k] != 0;
    return all;
  }

 private:
  template <class J>
  static constexpr void add(row_fold_entry&, int&, J) {}
  template <class Op, class T, int Src, int K>
  static constexpr void add(row_fold_entry& e, int& n, row_fold<Op, T, Src, K>) {
    e = {K, static_cast<int>(sizeof(T)), map_at<L, combine_program<Op, T>>(),
         &fill_identity<Op, T>};
    ++n;
  }
};

template <isa L, class P>
inline constexpr auto sweep_folds = sweep_tables<L, P>::folds();
template <class P>
inline constexpr auto sweep_slots = sweep_tables<isa::baseline, P>::used();

/// Values of rows are few beside their elements, often one: they are computed on vectors of 32
/// bytes at most, and past the last row where all of them lie in slots of the kernel's own.
template <isa L, class P, bool PastEnd>
constexpr tile_function once_at() {
  if constexpr (!PastEnd) return map_at < L == isa::avx512 ? isa::avx2 : L, P > ();
  else if constexpr (L == isa::baseline) return &map_past_end_baseline<P>;
  else return &map_past_end_avx2<P>;
}
template <isa L, int Phase, class P, bool PastEnd, std::uint64_t OfLine>
constexpr row_phase_entry row_phase() {
  row_phase_entry e;
  if constexpr (P::size == 0) {
    return e;
  } else if constexpr (Phase % 2 == 0) {
    e.once = once_at<L, P, PastEnd>();
  } else {
    e.along = sweep_at<L, P>();
    e.across = map_at<L, typename sweep_across<P, OfLine>::type>();
    e.folds = sweep_folds<L, P>.data();
    e.fold_count = sweep_tables<L, P>::count;
    e.used = sweep_slots<P>.data();
  }
  return e;
}

template <class G, int C>
struct row_facts {
  row_slot slots[max_operands]{};
  int slot_count = 0, phases = 0;

  constexpr row_facts() {
    row_phases p(G::view(), G::view().clusters[C]);
    for (int i = 0; i < p.slot_count; ++i) slots[i] = p.slots[i];
    slot_count = p.slot_count;
    phases = p.count();
    for (int i = 0; i < slot_count; ++i)
      if (slots[i].kind == slot_kind::saved) find_home(p, i);
  }

 private:
  /// A saved value lies where a result of its type goes, if nothing reads operands any more once it
  /// is there: one of them may lie there too.
  constexpr void find_home(row_phases& p, int saved) {
    bool there = false;
    for (int phase = 1; phase < phases; phase += 2) {
      const code_list program = p.program(phase);
      bool stores = false;
      for (int i = 0; i < program.size; ++i) {
        const code& c = program.at[i];
        stores |= c.kind == code_kind::store && c.operand == saved;
        if (there && c.kind == code_kind::load && slots[c.operand].kind == slot_kind::full_input)
          return;
      }
      there |= stores;
    }
    for (int o = 0; o < slot_count; ++o) {
      if (slots[o].kind != slot_kind::full_output || slots[o].type != slots[saved].type) continue;
      bool taken = false;
      for (int i = 0; i < slot_count; ++i) taken |= slots[i].home == o;
      if (taken) continue;
      slots[saved].home = o;
      return;
    }
  }
};
template <class G, int C, int Phase>
struct row_code {
  static constexpr code_list value = row_phases(G::view(), G::view().clusters[C]).program(Phase);
};
/// Cluster C of graph G as a kernel at each level.
template <class G, int C>
struct CALQUE_HIDDEN row_cluster {
  static constexpr row_facts<G, C> facts{};
  template <isa L, int... P>
  static constexpr auto phases_at(std::integer_sequence<int, P...>) {
    return std::array<row_phase_entry, sizeof...(P)>{
        row_phase<L, P, lowered<row_code<G, C, P>>, has_room<lowered<row_code<G, C, P>>>(),
                  of_line()>()...};
  }
  static constexpr std::uint64_t of_line() {
    std::uint64_t bits = 0;
    for (int s = 0; s < facts.slot_count; ++s)
      if (facts.slots[s].of_line) bits |= std::uint64_t{1} << s;
    return bits;
  }
  /// Whether the values that a program reads and writes lie in slots of the kernel's own.
  template <class P>
  static constexpr bool has_room() {
    bool own = !calls_by_element<P>;
    for (int s = 0; s < facts.slot_count; ++s) {
      const operand_use& use = operands_of<P>.of[s];
      own &= !use.used || use.uniform || facts.slots[s].kind == slot_kind::kept;
    }
    return own;
  }
  template <isa L>
  static constexpr auto phases = phases_at<L>(std::make_integer_sequence<int, facts.phases>{});
  template <isa L>
  static constexpr row_kernel kernel{facts.slots, facts.slot_count, phases<L>.data(), facts.phases};

  static constexpr const row_kernel& at_hand() {
#if CALQUE_X86()
    const isa level = best_isa();
    if (level == isa::avx512) return kernel<isa::avx512>;
    if (level == isa::avx2) return kernel<isa::avx2>;
#endif
    return kernel<isa::baseline>;
  }
  static void launch(const geometry& g, void* const* data, void* scratch) {
    run_rows(at_hand(), g, data, static_cast<std::byte*>(scratch));
  }
  static std::int64_t scratch(const geometry& g) { return row_scratch(at_hand(), g); }
};

}  // namespace calque::detail
