// A program that keeps its data in std::vector adopts calque for one function: nothing else
// changes, and no data is copied.
#include <calque/calque.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

namespace cq = calque;

namespace {

// What was there before: a damped step of many oscillators, one loop.
void step_by_hand(std::vector<double>& position, std::vector<double>& velocity, double dt) {
  for (std::size_t i = 0; i < position.size(); ++i) {
    const double acceleration = -4.0 * position[i] - 0.1 * velocity[i];
    velocity[i] += dt * acceleration;
    position[i] += dt * velocity[i];
  }
}

// The same as a traced function of arrays: one kernel with two outputs.
constexpr auto oscillate = cq::trace([](auto position, auto velocity, auto dt) {
  auto acceleration = -4.0 * position - 0.1 * velocity;
  auto faster = velocity + dt * acceleration;
  return std::tuple{position + dt * faster, faster};
});

void step(std::vector<double>& position, std::vector<double>& velocity, double dt) {
  auto p = cq::borrow(position.data(), cq::shape{position.size()});
  auto v = cq::borrow(velocity.data(), cq::shape{velocity.size()});
  oscillate.into(cq::outs(p, v), p, v, dt);  // written in place
}

}  // namespace

int main() {
  std::vector<double> position(1000), velocity(1000, 0.0);
  for (std::size_t i = 0; i < position.size(); ++i)
    position[i] = std::sin(0.01 * static_cast<double>(i));
  std::vector<double> position_before = position, velocity_before = velocity;

  for (int i = 0; i < 1000; ++i) {
    step(position, velocity, 0.01);
    step_by_hand(position_before, velocity_before, 0.01);
  }

  double worst = 0;
  for (std::size_t i = 0; i < position.size(); ++i)
    worst = std::fmax(worst, std::fabs(position[i] - position_before[i]));
  const cq::cache_stats stats = oscillate.stats();
  std::printf(
      "1000 steps of %zu oscillators: largest difference to the loop %.2g, plans made %lld\n",
      position.size(), worst, static_cast<long long>(stats.misses));
  return worst < 1e-12 && stats.misses == 1 ? 0 : 1;
}
