#include <calque/calque.hpp>

int main() { return calque::shape{2, 3}.size() == 6 ? 0 : 1; }
