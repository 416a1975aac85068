// Names for nodes and groups of nodes, kept in dumps, plans and messages.
#pragma once

#include <string_view>

#include "calque/trace/structure.hpp"

namespace calque {

/// `x` itself, under a name: prefixed by the open scopes and made unique by `_1`, `_2`, ….
///
///   auto logits = cq::named(cq::matmul(x, w) + b, "logits");
template <operand X>
constexpr X named(const X& x, [[maybe_unused]] std::string_view name,
                  [[maybe_unused]] location at = here()) {
  if constexpr (symbolic<X>) {
    builder& g = detail::common_builder(x);
    g.where = at;
    g.set_name(g.value_of(x.id), name);
  }
  return x;
}

/// Prefixes the names given while it lives: `cq::scope s{"encoder", x};`, where x is any symbol of
/// the trace. On arrays, in eager use, it does nothing.
class scope {
 public:
  template <operand X>
  constexpr scope([[maybe_unused]] std::string_view name, [[maybe_unused]] const X& x) {
    if constexpr (symbolic<X>) {
      b_ = &detail::common_builder(x);
      b_->push_scope(name);
    }
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  constexpr ~scope() {
    if (b_) b_->pop_scope();
  }

 private:
  builder* b_ = nullptr;
};

}  // namespace calque
