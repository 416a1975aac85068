// plugins <first> <second>: loads two libraries that hold the same traced functions, built with
// different options, and asks both (C131).
#include <dlfcn.h>

#include <cstdio>

#include "link/check.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  linked::unit units[2];
  for (int k = 0; k < 2; ++k) {
    void* const library = dlopen(argv[k + 1], RTLD_NOW | RTLD_LOCAL);
    void* const symbol = library != nullptr ? dlsym(library, "link_plugin") : nullptr;
    if (symbol == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    units[k] = reinterpret_cast<linked::unit>(symbol);
  }
  int faults = 0;
  std::int64_t launches = 0;
  for (const int k : {0, 1, 0}) {
    linked::answer a{};
    units[k](&a);
    launches += a.launches;
    const std::string fault = linked::fault_of(a);
    if (fault.empty()) continue;
    std::printf("%s: %s\n", argv[k + 1], fault.c_str());
    ++faults;
  }
  if (calque::counters(calque::cpu()).launches < launches) {
    std::puts("launches were not counted here");
    ++faults;
  }
  return faults;
}
