// The README's example is the example program, line for line, so it compiles and runs.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string read(const std::string& path) {
  std::ifstream in(CALQUE_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the README's program is examples/first_trace.cpp") {
  const std::string readme = read("README.md"), example = read("examples/first_trace.cpp");
  REQUIRE(!readme.empty());
  const std::string mark = "// [first-trace]\n";
  const std::size_t first = example.find(mark) + mark.size();
  const std::string traced = example.substr(first, example.find(mark, first) - first);
  REQUIRE(traced.size() > 100);
  CHECK(readme.find(traced) != std::string::npos);
  for (const char* line :
       {"cq::linspace(0.f, 1.f, 1'000'000);", "cq::ones<float>(cq::shape{1'000'000});",
        "const float norm = scaled_norm(x, y, 2.f);   // plans for these sizes, then runs"}) {
    CHECK(readme.find(line) != std::string::npos);
    CHECK(example.find(line) != std::string::npos);
  }
}
