// The one file of a program that compiles the planner, for the target calque::separate_planner.
#define CALQUE_PLANNER_HERE
#include <calque/run/plan_cache.hpp>
