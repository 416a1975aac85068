// The elementwise kernel on a GPU against the CPU's and a plain loop.
#include <cstdio>

#include "cuda/map_cases.hpp"

int main() {
  int cases = 0, faults = 0;
  try {
    map_cases::run_all([&](const char* name, const std::string& fault) {
      ++cases;
      if (fault.empty()) return;
      ++faults;
      std::printf("%s: %s\n", name, fault.c_str());
    });
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
  std::printf("%d cases, %d faults\n", cases, faults);
  return faults == 0 ? 0 : 1;
}
