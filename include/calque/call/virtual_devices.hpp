// `cq::virtual_devices`: makes devices out of the host, and with them what plans for them.
#pragma once

#include <vector>

#include "calque/memory/virtual_devices.hpp"
#include "calque/run/device_planning.hpp"
#include "calque/run/plan_cache.hpp"

namespace calque {

/// Carves devices out of `parent`, the host. Throws `device_error` for a name that is taken or none
/// and for numbers that make no sense; then nothing has changed. The devices go with the returned
/// object; arrays on them stay valid as long as they live, new work on them throws `device_error`.
///
///   auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .limit = 64_MiB}, {.name = "a1"}});
///   auto x = cq::ones<float>(cq::shape{8}).to(vs[0]);
[[nodiscard]] inline device_set virtual_devices(const device& parent,
                                                const std::vector<device_spec>& specs) {
  detail::install_device_planning();
  return detail::carve_devices(parent, specs);
}

}  // namespace calque
