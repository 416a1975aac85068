// calque: tracing and staging for numerical C++. This header is what most programs need.
//
//   inline constexpr auto f = calque::trace([](auto x, auto y, auto a) { return a * x + y; });
#pragma once

#include "calque/core/push_macros.inc"

#include "calque/array/borrow.hpp"
#include "calque/array/factories.hpp"
#include "calque/array/like.hpp"
#include "calque/array/print.hpp"
#include "calque/array/rng.hpp"
#include "calque/array/variable.hpp"
#include "calque/array/views.hpp"
#include "calque/call/array_operation.hpp"
#include "calque/call/eager.hpp"
#include "calque/call/set_log_sink.hpp"
#include "calque/call/traced.hpp"
#include "calque/call/virtual_devices.hpp"
#include "calque/trace/activations.hpp"
#include "calque/trace/apply.hpp"
#include "calque/trace/composed.hpp"
#include "calque/trace/control.hpp"
#include "calque/trace/convolution.hpp"
#include "calque/trace/device_guard.hpp"
#include "calque/trace/gradient.hpp"
#include "calque/trace/names.hpp"
#include "calque/trace/parts.hpp"
#include "calque/trace/random.hpp"
#include "calque/trace/soft_placement.hpp"

#include "calque/core/pop_macros.inc"
