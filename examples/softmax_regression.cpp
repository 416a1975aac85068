// Trains softmax regression (784 -> 10) on Fashion-MNIST with one traced training step, for five
// seeds, and holds the result against a plain double-precision loop.
//
//   softmax_regression [folder with the four gzip'd IDX files]
#include <algorithm>
#include <calque/calque.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "examples/common/idx.hpp"
#include "tests/allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

constexpr int pixels = 784, classes = 10, batch = 100, steps = 1000;
constexpr float rate = 0.1f;

// [model]
template <template <class, int> class A>
struct softmax_model {
  A<float, 2> w;
  A<float, 1> b;
};

constexpr auto logits = [](auto m, auto images) {
  auto x = cq::astype<float>(images) * (1.f / 255);
  return cq::named(cq::matmul(x, m.w) + m.b, "logits");
};

constexpr auto loss = [](auto m, auto images, auto labels) {
  auto target = cq::one_hot<float>(labels, classes);
  auto log_p = cq::log_softmax(logits(m, images), cq::axis<1>);
  return -cq::mean(cq::sum(target * log_p, cq::axis<1>));
};

constexpr auto train_step = cq::trace([](auto m, auto images, auto labels, auto learning_rate) {
  auto r = cq::value_and_grad(loss, cq::wrt<0>)(m, images, labels);
  m.w -= learning_rate * r.grad.w;
  m.b -= learning_rate * r.grad.b;
  return r.value;
});

constexpr auto accuracy = cq::trace([](auto m, auto images, auto labels) {
  auto hit = cq::argmax(logits(m, images), cq::axis<1>) == labels;
  return cq::mean(cq::astype<float>(hit));
});
// [model]

struct labelled_images {
  std::vector<std::uint8_t> images;  // rows of 784 pixels
  std::vector<std::uint8_t> labels;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

labelled_images read(const std::string& folder, const std::string& part) {
  idx::images i = idx::read_images(folder + "/" + part + "-images-idx3-ubyte.gz");
  std::vector<std::uint8_t> labels =
      idx::read_labels(folder + "/" + part + "-labels-idx1-ubyte.gz");
  if (i.rows * i.columns != pixels || i.count != static_cast<std::int64_t>(labels.size()))
    throw std::runtime_error(folder + ": images and labels of '" + part +
                             "' do not belong together");
  return {std::move(i.pixels), std::move(labels)};
}

// Separable stand-ins: each class lights its own stripe of pixels, over noise.
labelled_images generate(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  labelled_images d;
  d.images.resize(static_cast<std::size_t>(count * pixels));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint8_t>(random() % classes);
    d.labels.push_back(label);
    for (int p = 0; p < pixels; ++p)
      d.images[static_cast<std::size_t>(i * pixels + p)] =
          static_cast<std::uint8_t>(random() % 100 + (p % classes == label ? 100 : 0));
  }
  return d;
}

labelled_images shuffled(const labelled_images& d, unsigned seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(d.count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  labelled_images r;
  r.images.reserve(d.images.size());
  for (const std::int64_t i : order) {
    r.images.insert(r.images.end(), d.images.begin() + i * pixels,
                    d.images.begin() + (i + 1) * pixels);
    r.labels.push_back(d.labels[static_cast<std::size_t>(i)]);
  }
  return r;
}

struct double_model {
  std::vector<double> w = std::vector<double>(pixels * classes, 0.0);
  std::vector<double> b = std::vector<double>(classes, 0.0);
};

// The same step, written out in double.
void step_by_hand(double_model& m, const std::uint8_t* images, const std::uint8_t* labels) {
  std::vector<double> dw(m.w.size(), 0.0), db(m.b.size(), 0.0);
  for (int i = 0; i < batch; ++i) {
    double x[pixels], z[classes], total = 0;
    for (int p = 0; p < pixels; ++p) x[p] = images[i * pixels + p] * (1. / 255);
    for (int c = 0; c < classes; ++c) z[c] = m.b[static_cast<std::size_t>(c)];
    for (int p = 0; p < pixels; ++p)
      for (int c = 0; c < classes; ++c)
        z[c] += x[p] * m.w[static_cast<std::size_t>(p * classes + c)];
    const double top = *std::max_element(z, z + classes);
    for (double& v : z) total += v = std::exp(v - top);
    for (int c = 0; c < classes; ++c) {
      z[c] = (z[c] / total - (labels[i] == c ? 1 : 0)) / batch;
      db[static_cast<std::size_t>(c)] += z[c];
    }
    for (int p = 0; p < pixels; ++p)
      for (int c = 0; c < classes; ++c)
        dw[static_cast<std::size_t>(p * classes + c)] += x[p] * z[c];
  }
  for (std::size_t i = 0; i < dw.size(); ++i) m.w[i] -= static_cast<double>(rate) * dw[i];
  for (std::size_t i = 0; i < db.size(); ++i) m.b[i] -= static_cast<double>(rate) * db[i];
}

auto images_of(const labelled_images& d, std::int64_t first, std::int64_t count) {
  return cq::borrow(d.images.data() + first * pixels, cq::shape{count, pixels});
}
auto labels_of(const labelled_images& d, std::int64_t first, std::int64_t count) {
  return cq::borrow(d.labels.data() + first, cq::shape{count});
}

struct outcome {
  double accuracy = 0, difference = 0, steps_per_second = 0;
  std::int64_t allocations = 0;
};

outcome train(const labelled_images& training, const labelled_images& test, unsigned seed) {
  using clock = std::chrono::steady_clock;
  const labelled_images d = shuffled(training, seed);
  const std::int64_t batches = d.count() / batch;
  const softmax_model<cq::variable> model{{cq::zeros<float>(cq::shape{pixels, classes}), "w"},
                                          {cq::zeros<float>(cq::shape{classes}), "b"}};
  outcome r;
  float last_loss = 0;
  std::int64_t allocated = 0;
  clock::duration spent{};
  for (int i = 0; i < steps; ++i) {
    const std::int64_t first = i % batches * batch;
    const auto images = images_of(d, first, batch);
    const auto labels = labels_of(d, first, batch);
    const auto start = clock::now();
    allocation_counter allocations;
    last_loss = train_step(model, images, labels, rate);
    const auto count = static_cast<std::int64_t>(allocations.count());
    if (i > 0) {
      spent += clock::now() - start;
      allocated += count;
    }
    if ((i + 1) % 100 == 0) {
      std::printf("\rseed %u: step %4d of %d, loss %.4f", seed, i + 1, steps,
                  static_cast<double>(last_loss));
      std::fflush(stdout);
    }
  }
  double_model by_hand;
  for (int i = 0; i < steps; ++i) {
    const std::int64_t first = i % batches * batch;
    step_by_hand(by_hand, d.images.data() + first * pixels, d.labels.data() + first);
  }
  const cq::array<float, 2> w = model.w.value();
  for (int p = 0; p < pixels; ++p)
    for (int c = 0; c < classes; ++c)
      r.difference =
          std::max(r.difference, std::fabs(static_cast<double>(w(p, c)) -
                                           by_hand.w[static_cast<std::size_t>(p * classes + c)]));
  r.accuracy = static_cast<double>(
      accuracy(model, images_of(test, 0, test.count()), labels_of(test, 0, test.count())).item());
  r.allocations = allocated;
  r.steps_per_second = (steps - 1) / std::chrono::duration<double>(spent).count();
  return r;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
  const bool real = std::filesystem::exists(folder + "/train-images-idx3-ubyte.gz");
  labelled_images training, test;
  if (real) {
    training = read(folder, "train");
    test = read(folder, "t10k");
    std::printf("Fashion-MNIST from %s: %lld training and %lld test images\n", folder.c_str(),
                static_cast<long long>(training.count()), static_cast<long long>(test.count()));
  } else {
    training = generate(20000, 1);
    test = generate(2000, 2);
    std::printf(
        "no images in %s (Debian: apt-get install dataset-fashion-mnist); using generated, "
        "separable digits\n",
        folder.c_str());
  }

  bool good = true;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const outcome r = train(training, test, seed);
    std::printf(
        ", %s %.4f, weights within %.1e of a double loop, %.0f steps/s, %s after the first step: "
        "%lld\n",
        real ? "test accuracy" : "share of fresh generated digits recognised", r.accuracy,
        r.difference, r.steps_per_second, "allocations", static_cast<long long>(r.allocations));
    good = good && r.accuracy >= (real ? 0.81 : 0.95) && r.difference < 1e-4 && r.allocations == 0;
  }

  const softmax_model<cq::variable> model{{cq::zeros<float>(cq::shape{pixels, classes}), "w"},
                                          {cq::zeros<float>(cq::shape{classes}), "b"}};
  const auto plan =
      train_step.plan(model, images_of(training, 0, batch), labels_of(training, 0, batch), rate);
  const cq::cache_stats stats = train_step.stats();
  good = good && train_step.graphs() == 1 && stats.misses == 1;
  std::printf("graphs traced: %d, plan misses: %lld, planned bytes: %lld\n\n%s",
              train_step.graphs(), static_cast<long long>(stats.misses),
              static_cast<long long>(plan.peak_bytes().count()), plan.explain().c_str());
  if (!good) std::printf("softmax_regression: a figure above is not as promised\n");
  return good ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "softmax_regression: %s\n", e.what());
  return 1;
}
