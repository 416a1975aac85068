// What a call brings: its arguments' leaves and, for `into`, the destinations of its results.
//
// Plain data, so that planning, the cache and replay know nothing of arrays and variables.
#pragma once

#include <cstdint>

#include "calque/core/device.hpp"
#include "calque/graph/node.hpp"

namespace calque {

/// One leaf of the arguments, in the order of the graph's `arguments`.
struct leaf {
  argument_kind kind = argument_kind::array;
  dtype type = dtype::none;
  int rank = 0;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;  // in elements; null: row-major
  void* data = nullptr;                   // array or variable: its first element; scalar: its value
  const void* identity = nullptr;         // variables: the same pointer is the same variable
  const char* name = nullptr;             // variables; may be null
  detail::device_entry* place = nullptr;  // where `data` is; null: the host
};

/// A destination given by the caller.
struct output {
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;  // in elements; null: row-major
  void* data = nullptr;
  detail::device_entry* place = nullptr;  // where `data` is; null: the host
};

/// A call: `outputs` is null where the results are fresh row-major arrays.
struct call_request {
  const leaf* leaves = nullptr;
  int leaf_count = 0;
  const output* outputs = nullptr;
  int output_count = 0;
  int threads = detail::current_device().threads;
  detail::device_entry* where = detail::current_device().entry;  // of the guard around the call
  bool guarded = detail::current_device().guarded;               // else it is the default device
  bool locked = detail::current_device().locked;                 // a body may name no other device
  bool soft = detail::current_device().soft;                     // another device will do
  detail::device_entry* const* named = nullptr;  // the devices that the graph names, in its order
  int named_count = 0;

  /// Whether everything is on the host, and stays there.
  [[nodiscard]] bool on_host() const {
    bool host = where == nullptr;
    for (int i = 0; i < leaf_count; ++i) host = host && leaves[i].place == nullptr;
    for (int k = 0; outputs != nullptr && k < output_count; ++k)
      host = host && outputs[k].place == nullptr;
    for (int i = 0; i < named_count; ++i) host = host && named[i] == nullptr;
    return host;
  }
};

}  // namespace calque
