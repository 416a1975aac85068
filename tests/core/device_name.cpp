#include "calque/core/device_name.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cq = calque;

TEST_CASE("D1: names are constexpr values; short, long and partial forms are read and printed") {
  struct {
    const char *text, *shown, *whole;
  } const table[] = {
      {"cpu:0", "cpu:0", "/device:CPU:0"},
      {"GPU:1", "gpu:1", "/device:GPU:1"},
      {"gpu", "gpu", "/device:GPU"},
      {"gpu:*", "gpu", "/device:GPU"},
      {"a0", "a0", "/device:a0"},
      {"Big-one.2", "Big-one.2", "/device:Big-one.2"},
      {"/gpu:0", "gpu:0", "/device:GPU:0"},
      {"/device:GPU:0", "gpu:0", "/device:GPU:0"},
      {"/device:*:3", "*:3", "/device:*:3"},
      {"/job:worker", "/job:worker", "/job:worker"},
      {"/task:7", "/task:7", "/task:7"},
      {"/job:worker/task:1/gpu:0", "/job:worker/task:1/device:GPU:0",
       "/job:worker/task:1/device:GPU:0"},
      {"/job:worker/replica:0/task:1/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0",
       "/job:worker/replica:0/task:1/device:GPU:0"},
      {"/task:1/job:ps/cpu:0", "/job:ps/task:1/device:CPU:0", "/job:ps/task:1/device:CPU:0"},
  };
  for (const auto& t : table) {
    CAPTURE(t.text);
    const cq::device_name n{t.text};
    CHECK(n.text() == t.shown);
    CHECK(n.long_text() == t.whole);
    CHECK(cq::device_name{n.text()} == n);
    CHECK(cq::device_name{n.long_text()} == n);
  }
  constexpr cq::device_name n{"/job:worker/replica:0/task:1/device:GPU:2"};
  static_assert(n.job() == "worker" && n.replica() == 0 && n.task() == 1);
  static_assert(n.type() == "gpu" && n.index() == 2 && !n.is_open());
  static_assert(cq::cpu() == cq::device_name{"cpu:0"} && cq::gpu(3) == cq::device_name{"GPU:3"});
  static_assert(cq::device_name{}.is_open() && cq::cpu(0).with_threads(2).threads() == 2);
}

TEST_CASE("what is no name throws one sentence that says how names look") {
  for (const char* text : {"",
                           "/",
                           "//",
                           "gpu:",
                           "gpu:x",
                           "gpu:-1",
                           "gpu:1.5",
                           "gpu:12345678901",
                           ":0",
                           "0",
                           "1gpu",
                           "gpu 0",
                           "gpu:0/task:1",
                           "/job:",
                           "/job:a/job:b",
                           "/task:1/task:1",
                           "/gpu:0/cpu:0",
                           "/job:worker/",
                           "/replica:x",
                           "/job:worker/nonsense:y",
                           "*",
                           "/device:*",
                           "a-name-that-is-longer-than-31-letters",
                           "\xC3\xA4"}) {
    CAPTURE(text);
    const std::string start = "device_name: \"" + std::string(text) + "\" names no device; write ";
    CHECK_THROWS_WITH_AS((void)cq::device_name{text}, doctest::Contains(start.c_str()),
                         cq::device_error);
  }
  CHECK_THROWS_AS((void)cq::gpu(-1), cq::device_error);
  CHECK_THROWS_AS((void)cq::cpu().with_threads(0), cq::value_error);
}

TEST_CASE("D2: the inner name wins field by field; an index belongs to its type") {
  struct {
    const char *outer, *inner, *merged;
  } const table[] = {
      {"/job:worker", "gpu:0", "/job:worker/device:GPU:0"},
      {"gpu:0", "/job:worker", "/job:worker/device:GPU:0"},
      {"/job:worker/task:1", "/task:2", "/job:worker/task:2"},
      {"/job:worker/task:1/gpu:0", "cpu:0", "/job:worker/task:1/device:CPU:0"},
      {"/job:worker/gpu:0", "/job:ps", "/job:ps/device:GPU:0"},
      {"gpu", "/device:*:1", "gpu:1"},
      {"gpu:0", "/device:*:1", "gpu:1"},
      {"gpu:1", "cpu", "cpu"},
      {"/replica:1", "/job:a/task:3", "/job:a/replica:1/task:3"},
      {"/job:a/replica:0/task:0/cpu:0", "/job:b/replica:1/task:1/gpu:1",
       "/job:b/replica:1/task:1/device:GPU:1"},
  };
  for (const auto& t : table) {
    CAPTURE(t.merged);
    CHECK(cq::device_name{t.inner}.within(cq::device_name{t.outer}) == cq::device_name{t.merged});
    CHECK(cq::device_name{}.within(cq::device_name{t.outer}) == cq::device_name{t.outer});
    CHECK(cq::device_name{t.inner}.within({}) == cq::device_name{t.inner});
  }
  static_assert(cq::gpu(0).within(cq::cpu().with_threads(2)).threads() == 2);
}
