// The umbrella header and traced calls compiled by nvcc; and the program of a traced function's
// cluster as a kernel on a GPU, against the traced call on the host.
#include <cstdio>
#include <vector>

#include "calque/backend/cuda/map.cuh"
#include "calque/calque.hpp"

namespace cq = calque;

namespace {

inline constexpr auto blend = cq::trace([](auto x, auto y, auto a) {
  auto larger = x > y;
  return std::tuple{cq::where(larger, x * a, y / 2.f) + cq::abs(x - y), larger};
});
inline constexpr auto norm = cq::trace([](auto x) { return cq::sqrt(cq::sum(x * x)); });

using vector = cq::array<float, 1>;

int fault(const char* what, bool wrong) {
  std::printf("%s: %s\n", what, wrong ? "WRONG" : "right");
  return wrong ? 1 : 0;
}

/// Memory that host and device both reach.
template <class T>
T* shared(std::int64_t n) {
  void* p = nullptr;
  cq::detail::check_cuda(
      cudaMallocManaged(&p, static_cast<std::size_t>(n) * sizeof(T), cudaMemAttachGlobal),
      "cudaMallocManaged");
  return static_cast<T*>(p);
}

int reduction_on_the_host() {
  const vector x = cq::linspace(0.f, 4.f, 5);
  const float r = norm(x);
  return fault("sqrt(sum(x * x)) on the host", !(r * r > 29.999f && r * r < 30.001f));
}

// The traced body's closure is part of the graph's type, but neither of the program's nor of the
// kernel's. nvcc wants closure types deduced, never spelled.
template <class F, int Level>
int cluster_on_the_device(const cq::traced<F, Level>& f, std::int64_t n) {
  using cq::detail::key_of;
  using graph = typename cq::detail::signature<F, Level, key_of<vector>, key_of<vector>,
                                               key_of<float>>::final;
  constexpr cq::graph_view g = graph::view();
  static_assert(g.cluster_count == 1);

  float *x = shared<float>(n), *y = shared<float>(n), *a = shared<float>(1);
  float *two = shared<float>(1), *out = shared<float>(n);
  bool* larger = shared<bool>(n);
  *a = 3.f;
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 17);
    y[i] = static_cast<float>(i % 5);
  }
  const auto [want, want_larger] = f(cq::borrow(x, cq::shape{n}), cq::borrow(y, cq::shape{n}), *a);

  std::vector<void*> data;
  std::vector<cq::operand_layout> layouts;
  const auto add = [&](void* p, cq::dtype t) {
    data.push_back(p);
    layouts.push_back({t, true, {1}});
  };
  for (const std::int32_t id : cq::inputs_of(g, g.clusters[0]).body) {
    const cq::node& node = g.nodes[id];
    if (node.op->kind == cq::op_kind::constant) {
      *two = static_cast<float>(node.value.f);
      add(two, node.type);
    } else {
      add(node.index == 0 ? x : node.index == 1 ? y : a, node.type);
    }
  }
  cq::geometry domain;
  domain.inputs = static_cast<std::int32_t>(data.size());
  domain.outputs = g.clusters[0].outputs;
  for (int k = 0; k < domain.outputs; ++k) {
    const cq::dtype t = g.nodes[g.pool[g.clusters[0].first_output + k]].type;
    if (t == cq::dtype::boolean) add(larger, t);
    else add(out, t);
  }
  domain.rank = domain.kept = 1;
  domain.size = domain.kept_size = domain.extents[0] = n;
  domain.operands = layouts.data();
  cq::detail::launch_map_cuda(cq::detail::lowered<cq::detail::body_code<graph, 0>>{}, domain,
                              data.data(), nullptr);
  cq::detail::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  bool wrong = false;
  for (std::int64_t i = 0; i < n; ++i)
    wrong = wrong || out[i] != want(i) || larger[i] != want_larger(i);
  for (void* p : {static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(a),
                  static_cast<void*>(two), static_cast<void*>(out), static_cast<void*>(larger)})
    cudaFree(p);
  return fault("a traced function's cluster on the device", wrong);
}

}  // namespace

int main() {
  try {
    return reduction_on_the_host() + cluster_on_the_device(blend, 1) +
           cluster_on_the_device(blend, 100003);
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
