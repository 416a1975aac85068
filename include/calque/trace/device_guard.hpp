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

/// What `cq::colocate_with` gives to a guard.
struct colocation {
  builder* b = nullptr;
  std::int32_t device = -1;
};
/// For a guard in a traced body: the device that `y` was asked to run on, or where it is passed, if
/// it is an argument or a view of one; else whatever the call's is.
///
///   cq::device_guard on{cq::colocate_with(y)};
template <symbolic Y>
[[nodiscard]] constexpr colocation colocate_with(const Y& y) {
  builder& b = detail::common_builder(y);
  const int id = b.value_of(y.id);
  if (b.at(id).device >= 0) return {&b, b.at(id).device};
  int seen = id;
  while (detail::passes_on(b.at(seen).op->kind) || b.at(seen).op->kind == op_kind::read)
    seen = b.input(seen, 0);
  const op_kind k = b.at(seen).op->kind;
  if (k != op_kind::input && k != op_kind::variable) return {&b, -1};
  b.guards.push_argument(b.g.chars, b.at(seen).index);
  const std::int32_t device = b.guards.here();
  b.guards.pop();
  return {&b, device};
}

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
  /// Where `y` was asked to be, or where it is passed: `cq::device_guard g{cq::colocate_with(y)};`
  constexpr explicit device_guard(const colocation& with) : b_(with.b) {
    b_->device = b_->guards.push_same(with.device);
    check_lock();
  }
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
    check_lock();
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
  friend class lock_device;
  constexpr void lock() {
    if (b_ == nullptr) detail::current_device().locked = true;
    else b_->guards.lock();
  }
  template <class X>
  constexpr void open(const X& x, const device_name& d, bool clear) {
    b_ = &detail::common_builder(x);
    b_->device = b_->guards.push(b_->g.chars, d, clear);
    check_lock();
  }
  constexpr void check_lock() {
    if (b_->guards.breaks_lock()) b_->fail(trace_fault::locked);
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
    detail::current_device() = {d.entry(), d.threads(), true, before_.locked, before_.soft};
  }
  void leave_all() {
    before_ = detail::current_device();
    detail::current_device() = {nullptr, 1, false, before_.locked, before_.soft};
  }

  builder* b_ = nullptr;  // of the trace
  detail::current_place before_{};
  device held_{};  // while calls run on it
};

/// A guard that no other may override: around calls, a body that names another device throws
/// `placement_error`; in a traced body, an inner guard that does is refused by the compiler.
///
///   const cq::lock_device all{cq::gpu(0)};
class [[nodiscard]] lock_device {
 public:
  explicit lock_device(const device& d) : guard_(d) { guard_.lock(); }
  template <operand X>
  constexpr lock_device(const device_name& d, const X& x) : guard_(d, x) {
    guard_.lock();
  }

 private:
  device_guard guard_;
};

}  // namespace calque
