// The operations that are structure rather than arithmetic: arguments, views, regions, effects.
// Each is a name and a kind; what they do is the business of passes, planner and executor.
#pragma once

#include "calque/graph/op_info.hpp"

namespace calque::op {

#define CALQUE_STRUCTURE(NAME, KIND)               \
  struct NAME {                                    \
    static constexpr char name[] = #NAME;          \
    static constexpr op_kind kind = op_kind::KIND; \
  }
CALQUE_STRUCTURE(input, input);
CALQUE_STRUCTURE(scalar, scalar);
CALQUE_STRUCTURE(variable, variable);
CALQUE_STRUCTURE(constant, constant);
CALQUE_STRUCTURE(extent, extent);
CALQUE_STRUCTURE(iota, iota);
CALQUE_STRUCTURE(read, read);
CALQUE_STRUCTURE(assign, assign);
CALQUE_STRUCTURE(cond, cond);
CALQUE_STRUCTURE(loop, loop);
CALQUE_STRUCTURE(entry, entry);
CALQUE_STRUCTURE(region_arg, region_arg);
CALQUE_STRUCTURE(result, result);
CALQUE_STRUCTURE(marker, marker);
CALQUE_STRUCTURE(stop_gradient, stop_gradient);  // equal to its input; no derivative passes
CALQUE_STRUCTURE(gradient, gradient);
#undef CALQUE_STRUCTURE

}  // namespace calque::op
