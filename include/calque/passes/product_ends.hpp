// Gives matrix products the elementwise groups that alone read them: bias, activation, residual,
// the masks of a gradient, an update. One kernel then, without a block for the product itself.
#pragma once

#include "calque/passes/fusion_groups.hpp"

namespace calque::detail {

class product_ends {
 public:
  constexpr explicit product_ends(fusion_groups& groups) : m_(groups), g_(groups.g) {}

  constexpr void run() {
    for (int c = 0; c < m_.all.size(); ++c) {
      fusion_group& a = m_.all[c];
      if (a.dead || a.root >= 0 || a.inputs + a.outputs + 3 > max_operands - 8) continue;
      const int product = product_of(c);
      if (product < 0) continue;
      m_.group[product] = c;  // before all members: it is one of their operands
      a.root = product;
      a.product = true;
      ++a.nodes;
    }
  }

 private:
  /// The last product of two matrices that only the group reads, in its own extents.
  constexpr int product_of(int c) const {
    const node& domain = g_.nodes[m_.all[c].domain];
    int found = -1;
    for (int id = m_.first(c); id >= 0; id = m_.next(id))
      for (int k = 0; k < g_.nodes[id].inputs; ++k) {
        const int in = g_.input(id, k);
        const node& n = g_.nodes[in];
        if (n.op->kind == op_kind::matmul && n.rank == 2 && g_.same_ones(n, domain) &&
            n.region == m_.all[c].region && n.device == m_.all[c].device && in > found &&
            m_.is_read_by(in, c))
          found = in;
      }
    return found;
  }

  fusion_groups& m_;
  const graph_view& g_;
};

}  // namespace calque::detail
