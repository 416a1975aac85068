// Planning for several devices, as a part of the planner that only programs with devices have.
//
// It is some hundred KiB of code and seconds of compilation, which a program on the host alone need
// not pay: who makes devices installs it (call/virtual_devices.hpp, back ends of other devices).
#pragma once

#include <atomic>

#include "calque/backend/backend.hpp"
#include "calque/plan/overlap.hpp"
#include "calque/run/plan.hpp"

namespace calque::detail {

using device_planner = void (*)(plan& p, const graph_view& g, const kernel_table& kernels,
                                const planning::graph_facts& facts, const call_request& request,
                                run_counters* counters);
inline namespace abi_1 {

CALQUE_SHARED inline std::atomic<device_planner>& device_planning() noexcept {
  static constinit std::atomic<device_planner> planner{nullptr};
  return planner;
}

}  // namespace abi_1

/// Plans a call with devices besides the host.
CALQUE_ONCE void plan_on_devices(plan& p, const graph_view& g, const kernel_table& kernels,
                                 const planning::graph_facts& facts, const call_request& request,
                                 run_counters* counters);
inline void install_device_planning() noexcept {
  device_planning().store(&plan_on_devices, std::memory_order_release);
}

}  // namespace calque::detail

#if CALQUE_DEFINES_ONCE()
#include "calque/run/planner.hpp"
#endif
