// The library after macros that platform headers define in passing: they neither break it nor are
// changed by it (C124).
#include <bits/stdc++.h>

#define min(a, b) broken min
#define max(a, b) broken max
#define small char
#define near
#define far
#define I broken_i
#define ERROR 0
#define CHECK(x) broken check

#include "calque/calque.hpp"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
constexpr std::string_view after[] = {TEXT(min(1, 2)), TEXT(max(1, 2)), TEXT(small),
                                      TEXT(I),         TEXT(ERROR),     TEXT(CHECK(1))};
constexpr std::string_view before[] = {"broken min", "broken max", "char",
                                       "broken_i",   "0",          "broken check"};
static_assert(std::equal(std::begin(after), std::end(after), std::begin(before), std::end(before)));

#undef min
#undef max
#undef small
#undef near
#undef far
#undef I
#undef ERROR
#undef CHECK

int main() { return 0; }
