// `cq::device_guard`: the device of this thread's calls, for a scope of the host's code.
#pragma once

#include <string>

#include "calque/core/device.hpp"
#include "calque/core/parallel.hpp"

namespace calque {

/// Calls that this thread makes while the guard lives run on `d`; guards nest, the inner one
/// counts. Other threads are not concerned, nor those started inside: they begin with `cpu()` and
/// one thread. A guard dies on its own thread, the youngest first, as local objects do.
///
/// Throws `device_error` where there is no such device, or where it has several threads and the
/// program includes no way to run them.
///
///   #include <calque/parallel/omp.hpp>
///   {
///     cq::device_guard on{cq::cpu(0).with_threads(2)};
///     y = f(x);  // large steps are shared by two threads
///   }
class [[nodiscard]] device_guard {
 public:
  explicit device_guard(const device& d) : before_(detail::current_device()), held_(d) {
    if (!d.is_present())
      throw device_error("device_guard: " + d.name() + " is gone; take one of the present devices");
    if (d.threads() > 1 && current_thread_system() == nullptr)
      throw device_error("device_guard: " + d.name() + " with " + std::to_string(d.threads()) +
                         " threads, but this program has no way to run them; include "
                         "<calque/parallel/omp.hpp> or <calque/parallel/tbb.hpp>");
    detail::current_device() = {d.entry(), d.threads()};
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() { detail::current_device() = before_; }

 private:
  detail::current_place before_;
  device held_;  // while calls run on it
};

}  // namespace calque
