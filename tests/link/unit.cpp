// Calls the traced functions of functions.hpp. Compiled with many options and into many things;
// LINK_UNIT names what it offers.
#include "link/functions.hpp"

extern "C" [[gnu::visibility("default")]] void LINK_UNIT(linked::answer* to) {
  namespace cq = calque;
  const auto before = cq::counters(cq::cpu()).launches;
  const auto x = cq::linspace(0.1f, 7.3f, linked::length),
             y = cq::linspace(0.7f, 9.1f, linked::length);
  const cq::array<float, 1> blended = linked::blend(x, y, 1.7f);
  for (int i = 0; i < linked::length; ++i) to->blended[i] = blended(i);
  to->norm = linked::norm(cq::array<float, 1>{3, 4, 12});
  const cq::array<double, 2> m{{1, 2}, {3, -1}, {0, 5}};
  const cq::array<std::int64_t, 1> largest = linked::largest(m, cq::array<double, 1>{0, 0, 1});
  for (int i = 0; i < 3; ++i) to->largest[i] = largest(i);
  to->devices = &cq::detail::host_state();
  to->level = &cq::detail::isa_in_use();
  to->launches = cq::counters(cq::cpu()).launches - before;
}
