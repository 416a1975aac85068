// Whole functions: a multi-layer perceptron forward, and training steps of softmax regression.
#include <calque/calque.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/networks_peers.hpp"
#include "benchmarks/regression.hpp"

namespace cq = calque;

namespace {

constexpr auto mlp = cq::trace([](auto x, auto w1, auto b1, auto w2, auto b2, auto w3, auto b3) {
  auto h1 = cq::relu(cq::matmul(x, w1) + b1);
  auto h2 = cq::relu(cq::matmul(h1, w2) + b2);
  return cq::softmax(cq::matmul(h2, w3) + b3, cq::axis<1>);
});

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t rows = 128, inputs = 784, hidden = 512, classes = 10;
  constexpr std::int64_t steps = 100, batch = 100;
  const auto x = bench::noise(rows * inputs, 1, 0, 1);
  const auto w1 = bench::noise(inputs * hidden, 2, -0.05f, 0.05f), b1 = bench::noise(hidden, 3);
  const auto w2 = bench::noise(hidden * hidden, 4, -0.05f, 0.05f), b2 = bench::noise(hidden, 5);
  const auto w3 = bench::noise(hidden * classes, 6, -0.05f, 0.05f), b3 = bench::noise(classes, 7);
  const bench::buffer<float> h1(rows * hidden), h2(rows * hidden), out(rows * classes);
  const auto images = bench::noise(steps * batch * inputs, 8, 0, 1);
  const bench::buffer<std::int32_t> labels(steps * batch);
  for (std::int64_t i = 0; i < labels.size(); ++i)
    labels.data()[i] = static_cast<std::int32_t>(i * 7 % classes);
  const bench::buffer<float> w(inputs * classes), b(classes), losses(steps);
  const bench::buffer<float> logits(batch * classes), dw(inputs * classes);
  const peers::networks_operands o{rows,      inputs,        hidden,        classes,    x.data(),
                                   w1.data(), b1.data(),     w2.data(),     b2.data(),  w3.data(),
                                   b3.data(), h1.data(),     h2.data(),     out.data(), steps,
                                   batch,     images.data(), labels.data(), 0.01f,      w.data(),
                                   b.data(),  losses.data(), logits.data(), dw.data()};
  const auto add_peers = [&o](const bench::row& r) {
    r.add_peers(peers::plain::networks(), "plain", o);
    r.add_peers(peers::native::networks(), "native", o);
  };

  const auto X = cq::borrow(o.x, cq::shape{rows, inputs});
  const auto W1 = cq::borrow(o.w1, cq::shape{inputs, hidden});
  const auto W2 = cq::borrow(o.w2, cq::shape{hidden, hidden});
  const auto W3 = cq::borrow(o.w3, cq::shape{hidden, classes});
  const auto B1 = cq::borrow(o.b1, cq::shape{hidden}), B2 = cq::borrow(o.b2, cq::shape{hidden});
  const auto B3 = cq::borrow(o.b3, cq::shape{classes});
  auto Out = cq::borrow(o.out, cq::shape{rows, classes});
  constexpr double weights = inputs * hidden + hidden * hidden + hidden * classes;
  const bench::row r_mlp("mlp", {4 * (weights + rows * inputs), 2 * rows * weights}, {out.span()});
  r_mlp.add("calque", [=]() mutable { mlp.into(Out, X, W1, B1, W2, B2, W3, B3); });
  add_peers(r_mlp);

  // the model begins at zero in each run, as the peers' does
  const bench::softmax_model<cq::variable> m{{cq::zeros<float>(cq::shape{inputs, classes}), "w"},
                                             {cq::zeros<float>(cq::shape{classes}), "b"}};
  const auto w_zero = cq::zeros<float>(cq::shape{inputs, classes});
  const auto b_zero = cq::zeros<float>(cq::shape{classes});
  constexpr double products = steps * 2 * 2. * batch * inputs * classes;
  const bench::row r_steps("softmax regression", {4. * steps * batch * inputs, products},
                           {losses.span()});
  r_steps.add("calque", [=, loss = cq::array<float, 0>(0.f)]() mutable {
    bench::softmax_model<cq::variable> model = m;
    model.w.assign(w_zero);
    model.b.assign(b_zero);
    for (std::int64_t s = 0; s < steps; ++s) {
      const auto images_now = cq::borrow(o.images + s * batch * inputs, cq::shape{batch, inputs});
      const auto labels_now = cq::borrow(o.labels + s * batch, cq::shape{batch});
      bench::regression_step.into(loss, model, images_now, labels_now, o.rate);
      o.losses[s] = loss.item();
    }
  });
  add_peers(r_steps);
  return bench::run(argc, argv);
}
