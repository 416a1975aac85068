// How many kernels a call of a traced function launches.
#pragma once

#include <cstdint>

namespace calque::test {

template <class F, class... A>
std::int64_t launches(const F& f, const A&... args) {
  (void)f.plan(args...);
  const auto before = f.stats().launches;
  (void)f(args...);
  return f.stats().launches - before;
}

}  // namespace calque::test
