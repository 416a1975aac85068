// What can be wrong with a body that its types do not show and tracing finds out.
//
// While the compiler traces, the first fault is recorded and becomes the text of a static_assert
// (trace/trace.hpp); where a builder works at run time, the same text is thrown.
#pragma once

#include "calque/core/error.hpp"

#define CALQUE_FAULT_UNSET                                                                  \
  "calque: a symbol is used or returned before it was given a value; initialise it, as in " \
  "auto y = x"
#define CALQUE_FAULT_LITERAL                                                                    \
  "calque: a C++ number beside an integer array does not fit the array's type; cast the array " \
  "first with cq::astype<...>(x)"
#define CALQUE_FAULT_EXTENT                                                                   \
  "cq::shape{...}: an extent must be made of x.extent(i), constants and + - * /; a run-time " \
  "number "                                                                                   \
  "is no part of a plan: pass cq::static_<n>, or a cq::shape or an array that has the extent"
#define CALQUE_FAULT_AXIS \
  "x.extent(i): x has no axis i; axes count from 0 to rank - 1, or back from -1 to -rank"
#define CALQUE_FAULT_ESCAPED                                                                     \
  "calque: a value made inside cq::cond or cq::for_loop is used outside it; return it from the " \
  "branch, or carry it as the loop's state, and use what cond or for_loop gives"
#define CALQUE_FAULT_REBOUND                                                                     \
  "calque: code inside cq::cond or cq::for_loop changes (=, +=, -=, *=, /=) a symbol made "      \
  "outside "                                                                                     \
  "it, which would happen once while tracing; carry it as the loop's state, return it from the " \
  "branches, or change a copy"
#define CALQUE_FAULT_STEPS                                                                       \
  "cq::grad(f): a derivative passes through cq::for_loop(n, ...) whose n is a run-time number; " \
  "pass n as cq::static_<n>, or make it of x.extent(i)"
#define CALQUE_FAULT_DROPOUT \
  "cq::dropout(state, x, p): p must be a probability, a number from 0 to 1"
#define CALQUE_FAULT_BERNOULLI \
  "cq::random::bernoulli(state, shape, p): p must be a probability, a number from 0 to 1"
#define CALQUE_FAULT_UNIFORM                                                                     \
  "cq::random::uniform<T>(state, shape, lo, hi): the bounds must be finite numbers, lo at most " \
  "hi, whose distance T can hold"
#define CALQUE_FAULT_NORMAL                                                                     \
  "cq::random::normal<T>(state, shape, mean, deviation): deviation must be a number that is 0 " \
  "or more"
#define CALQUE_FAULT_PAD                                                                      \
  "cq::pad(x, {{before, after}, ...}): a width is negative; widths count elements and start " \
  "at 0: to take some away, use cq::slice"

#define CALQUE_FAULT_LOCKED                                                                   \
  "cq::device_guard g{d, x}: it names another device than cq::lock_device around it allows; " \
  "remove one of the two"

namespace calque {

enum class trace_fault : unsigned char {
  none,
  unset,
  literal,
  extent,
  axis,
  escaped,
  rebound,
  dropout,
  bernoulli,
  uniform,
  normal,
  pad,
  locked
};

namespace detail {

[[noreturn]] inline void throw_fault(trace_fault f) {
  switch (f) {
    case trace_fault::literal: throw dtype_error(CALQUE_FAULT_LITERAL);
    case trace_fault::extent: throw shape_error(CALQUE_FAULT_EXTENT);
    case trace_fault::axis: throw index_error(CALQUE_FAULT_AXIS);
    case trace_fault::escaped: throw value_error(CALQUE_FAULT_ESCAPED);
    case trace_fault::rebound: throw value_error(CALQUE_FAULT_REBOUND);
    case trace_fault::dropout: throw value_error(CALQUE_FAULT_DROPOUT);
    case trace_fault::bernoulli: throw value_error(CALQUE_FAULT_BERNOULLI);
    case trace_fault::uniform: throw value_error(CALQUE_FAULT_UNIFORM);
    case trace_fault::normal: throw value_error(CALQUE_FAULT_NORMAL);
    case trace_fault::pad: throw shape_error(CALQUE_FAULT_PAD);
    case trace_fault::locked: throw placement_error(CALQUE_FAULT_LOCKED);
    default: throw value_error(CALQUE_FAULT_UNSET);
  }
}

}  // namespace detail
}  // namespace calque
