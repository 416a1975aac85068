// `cq::device_guard`: where the calls of this thread run, or the operations traced after it.
#pragma once

#include <string>

#include "calque/core/device.hpp"
#include "calque/core/parallel.hpp"
#include "calque/trace/structure.hpp"

namespace calque {

/// Names no device: `cq::device_guard g{cq::none, x}` lifts the guards around it.
struct none_t {};
inline constexpr none_t none{};

/// Around calls: those that this thread makes while the guard lives run on `d`. Other threads are
/// not concerned, nor those started inside: they begin without a guard. A guard dies on its own
/// thread, the youngest first, as local objects do. Throws `device_error` where there is no such
/// device, or where it has several threads and the program includes no way to run them.
///
///   #include <calque/parallel/omp.hpp>
///   {
///     cq::device_guard on{cq::cpu(0).with_threads(2)};
///     y = f(x);  // large steps are shared by two threads
///   }
///
/// In a traced function, where `x` is any symbol of the trace: what is traced while the guard lives
/// runs on the device of that name, whatever guard is around the call; the name is looked up when a
/// call is planned. Guards nest; the inner one counts, and fields that it leaves open are those of
/// the one around it.
///
///   auto hidden = [&] { cq::device_guard on{cq::gpu(0), x}; return cq::tanh(cq::matmul(x, w));
///   }();
class [[nodiscard]] device_guard {
 public:
  explicit device_guard(const device& d) { enter(d); }
  template <operand X>
  constexpr device_guard(const device_name& d, [[maybe_unused]] const X& x) {
    if constexpr (symbolic<X>) open(x, d, false);
    else enter(d);
  }
  /// A device that the traced function takes as an argument.
  template <symbolic X>
  constexpr device_guard(const device_symbol& d, const X& x) : b_(&detail::common_builder(x)) {
    b_->device = b_->guards.push_argument(b_->g.chars, d.argument);
  }
  template <operand X>
  constexpr device_guard(none_t, [[maybe_unused]] const X& x) {
    if constexpr (symbolic<X>) open(x, {}, true);
    else leave_all();
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  constexpr ~device_guard() {
    if (b_ != nullptr) b_->device = b_->guards.pop();
    else detail::current_device() = before_;
  }

 private:
  template <class X>
  constexpr void open(const X& x, const device_name& d, bool clear) {
    b_ = &detail::common_builder(x);
    b_->device = b_->guards.push(b_->g.chars, d, clear);
  }
  void enter(const device& d) {
    if (!d.is_present())
      throw device_error("device_guard: " + d.name() + " is gone; take one of the present devices");
    if (d.threads() > 1 && current_thread_system() == nullptr)
      throw device_error("device_guard: " + d.name() + " with " + std::to_string(d.threads()) +
                         " threads, but this program has no way to run them; include "
                         "<calque/parallel/omp.hpp> or <calque/parallel/tbb.hpp>");
    before_ = detail::current_device();
    held_ = d;
    detail::current_device() = {d.entry(), d.threads(), true, before_.soft};
  }
  void leave_all() {
    before_ = detail::current_device();
    detail::current_device() = {nullptr, 1, false, before_.soft};
  }

  builder* b_ = nullptr;  // of the trace
  detail::current_place before_{};
  device held_{};  // while calls run on it
};

}  // namespace calque
