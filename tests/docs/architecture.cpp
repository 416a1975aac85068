// The worked example of docs/architecture.md says what the library really does: every text it shows
// is made here and looked for in the page.
#include <doctest/doctest.h>
#include <calque/calque.hpp>

#include <fstream>
#include <sstream>
#include <string>

namespace cq = calque;

namespace {

// [worked-example]
constexpr auto loss = [](auto w, auto x) {
  auto y = cq::named(x * w, "y");
  return cq::sum(y * y);
};
constexpr auto step = cq::trace([](auto w, auto x, auto rate) {
  auto r = cq::value_and_grad(loss, cq::wrt<0>)(w, x);
  w -= rate * r.grad;
  return r.value;
});
// [worked-example]

using stages =
    cq::detail::signature<decltype([](auto w, auto x, auto rate) { return step(w, x, rate); }), 2,
                          cq::variable<float, 1>, cq::array<float, 1>, float>::stages;

std::string page() {
  std::ifstream in(CALQUE_SOURCE_DIR "/docs/architecture.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE(
    "the worked example of docs/architecture.md is what the compiler and the plan give (A12, "
    "A16)") {
  const std::string text = page();
  REQUIRE(!text.empty());
  const auto shows = [&](const std::string& what) {
    INFO("docs/architecture.md lacks:\n" << what);
    CHECK(text.find(what) != std::string::npos);
  };
  shows(cq::dump(stages::traced::view()));
  shows(cq::dump(stages::expanded::view()));
  shows(cq::dump(stages::folded::view()));
  shows(cq::dump(stages::merged::view()));
  shows(cq::dump(stages::live::view()));
  shows(cq::dump(stages::fused::view()));
  const cq::variable<float, 1> w{cq::ones<float>(cq::shape{1000}), "w"};
  const cq::array<float, 1> x = cq::ones<float>(cq::shape{1000});
  shows(step.plan(w, x, 0.1f).dump());
}
