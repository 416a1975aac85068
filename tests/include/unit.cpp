// Compiled three times, twice into a program and once into a shared library: two definitions of one
// thing, had a header an ordinary function, would not link (C125).
#include "all_headers.hpp"

int UNIT_NAME();
int UNIT_NAME() { return 1; }

#ifdef UNIT_MAIN
int first();
int second();
int main() { return first() + second() == 2 ? 0 : 1; }
#endif
