// The one file of a program that compiles what all traced functions share, for the target
// calque::separate_planner.
#define CALQUE_PLANNER_HERE
#include <calque/backend/cpu/rows.hpp>
#include <calque/backend/cpu/tile.hpp>
#include <calque/run/plan_cache.hpp>
