// The random functions of some seeds, compiled at the baseline instruction set: there, fused and
// unfused programs agree to the bit.
#include "support/function_runs.hpp"

namespace {

[[maybe_unused]] const bool registered = calque::test::register_functions<CALQUE_FIRST_SEED>(
    std::make_integer_sequence<std::uint64_t, CALQUE_SEEDS>{});

}  // namespace
