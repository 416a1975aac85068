#include <calque/calque.hpp>
#if defined(APP_HAS_OMP)
#include <calque/parallel/omp.hpp>
#endif
#if defined(APP_HAS_TBB)
#include <calque/parallel/tbb.hpp>
#endif
#if defined(APP_HAS_BLAS)
#include <calque/parallel/blas.hpp>
#endif

int main() {
  const bool threads = calque::current_thread_system() != nullptr;
#if defined(APP_HAS_OMP) || defined(APP_HAS_TBB)
  const calque::device_guard on{calque::cpu(0).with_threads(2)};
  if (!threads) return 1;
#else
  if (threads) return 1;
#endif
  return calque::shape{2, 3}.size() == 6 ? 0 : 1;
}
