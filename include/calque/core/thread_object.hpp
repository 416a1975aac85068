// Objects that each thread has one of, for functions that destructors may call too.
//
// Separate because what ends with a thread is easily used after its end: objects of the program,
// static ones on the first thread too, outlive the thread's own and may call traced functions while
// they are destroyed. Called by keys of plans and by caches.
#pragma once

#include "calque/core/config.hpp"

namespace calque::detail {

/// This thread's T, made at first use; null once it has been destroyed.
template <class T>
CALQUE_HIDDEN T* thread_object() {
  static thread_local bool ended = false;
  struct owner {
    T value;
    ~owner() { ended = true; }
  };
  if (ended) return nullptr;
  static thread_local owner own;
  return &own.value;
}

}  // namespace calque::detail
