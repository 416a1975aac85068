// Rows kernels whose results lie where their operands were.
#include <calque/calque.hpp>

#include "support/random_graph.hpp"
#include "support/reference.hpp"

namespace cq = calque;
using namespace calque::test;

TEST_CASE("A10: functions of rows may write over what they read, at every length") {
  constexpr auto softmax = cq::trace([](auto x) { return cq::softmax(x, cq::axis<1>); });
  constexpr auto norm = cq::trace([](auto x) { return cq::layer_norm(x, 2.0, 1.0); });
  // keeps exp(x) for the last sweep, which reads x as well: no result may take its place
  constexpr auto both = cq::trace([](auto x) {
    const auto e = cq::exp(x);
    return e / cq::sum(e, cq::axis<1>, cq::keepdims) + x;
  });
  for (std::int64_t columns : {1, 7, 16, 33, 100, 1024, 2048, 2049, 5000})
    for (std::int64_t rows : {1, 3, 300}) {
      const auto x = drawn<float>(cq::shape{rows, columns}, draws<float>(1));
      const auto same = [&](const auto& f) {
        const auto fresh = f(x);
        auto place = x.clone();
        f.into(place, place);
        bool equal = true;
        for (std::int64_t i = 0; i < x.size(); ++i)
          equal = equal && fresh.data()[i] == place.data()[i];
        return equal;
      };
      CAPTURE(columns);
      CAPTURE(rows);
      CHECK(same(softmax));
      CHECK(same(norm));
      CHECK(same(both));
    }
}
