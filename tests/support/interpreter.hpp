// The oracle: the library's interpreter under the tests' names.
#pragma once

#include "calque/run/interpreter.hpp"

namespace calque::test {

using reference::extents;
using reference::interpreter;
using reference::interpreter_error;
using reference::rounding;
using reference::same_values;
using reference::scalar_tensor;
using reference::tensor;

}  // namespace calque::test
