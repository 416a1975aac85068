// Random graphs whose nodes ask for random devices, with arguments on random devices: placement is
// a function of its inputs, transfers are those needed, and calls give the oracle's bits although
// each device's memory is closed to all others.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "calque/backend/interpret.hpp"
#include "calque/call/virtual_devices.hpp"
#include "calque/plan/placed_graph.hpp"
#include "calque/run/plan_cache.hpp"
#include "support/interpreter.hpp"
#include "support/placed.hpp"
#include "support/random_graph.hpp"

namespace {

using namespace calque;
using namespace calque::test;
namespace planning = calque::detail::planning;
using calque::detail::device_access;
using calque::detail::device_entry;

constexpr std::uint64_t seeds = 1000;

/// Dense memory of a tensor on a device.
class device_block {
 public:
  device_block(const tensor& t, device_entry* where)
      : host_(t, placement::dense, 0), where_(where) {
    bytes_ = static_cast<std::int64_t>(t.data.size()) * size_of(t.type);
    data_ = where == nullptr || bytes_ == 0 ? host_.data() : where->allocate(bytes_);
    if (data_ != host_.data()) copy(data_, host_.data());
  }
  device_block(device_block&& o) noexcept
      : host_(std::move(o.host_)),
        where_(o.where_),
        data_(std::exchange(o.data_, nullptr)),
        bytes_(o.bytes_),
        own_(std::exchange(o.own_, false)) {}
  ~device_block() {
    if (own_ && where_ != nullptr && bytes_ > 0) where_->release(data_, bytes_);
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] device_entry* where() const { return bytes_ == 0 ? nullptr : where_; }
  [[nodiscard]] placed& host() { return host_; }
  [[nodiscard]] tensor value() {
    if (where_ != nullptr && bytes_ > 0) copy(host_.data(), data_);
    return host_.value();
  }

 private:
  void copy(void* to, const void* from) {
    const device_access access(where_);
    std::memcpy(to, from, static_cast<std::size_t>(bytes_));
  }
  placed host_;
  device_entry* where_;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
  bool own_ = true;
};

/// The graph with names of devices at some of its nodes.
graph asking(const graph_view& g, std::mt19937_64& random) {
  graph r = duplicate(g);
  std::vector<std::int32_t> names;
  for (const char* name : {"a0", "a1", "cpu:0"}) {
    names.push_back(r.chars.size());
    for (const char* c = name; *c != '\0'; ++c) r.chars.push(*c);
    r.chars.push('\0');
  }
  for (int id = 0; id < r.nodes.size(); ++id)
    if (const auto k = random() % 5; k < names.size()) r.nodes[id].device = names[k];
  return r;
}

/// What is wrong with a placed graph, or null.
const char* fault_of(const planning::placed_graph& p) {
  const graph_view g = p.g.view();
  std::map<std::pair<int, int>, int> copies;
  for (int id = 0; id < g.node_count; ++id) {
    const int here = p.of[static_cast<std::size_t>(id)];
    const op_kind k = g.kind(id);
    if (k == op_kind::transfer) {
      const int from = p.of[static_cast<std::size_t>(g.input(id, 0))];
      if (from == here || from < 0 || here < 0) return "a transfer that copies nowhere";
      if (++copies[{g.input(id, 0), here}] > 1) return "two copies of one value on one device";
      if (g.nodes[id].region != g.nodes[g.input(id, 0)].region) return "a copy in another region";
      continue;
    }
    for (int i = 0; i < g.nodes[id].inputs; ++i) {
      const int in = g.input(id, i);
      if (in >= id) return "an input that comes later";
      if (k == op_kind::read || k == op_kind::cond || k == op_kind::loop || k == op_kind::result ||
          (k == op_kind::assign && i != 1))
        continue;
      const int there = p.of[static_cast<std::size_t>(in)];
      if (there >= 0 && here >= 0 && there != here) return "a node that reads another device";
    }
  }
  for (int r = 0; r < g.region_count; ++r)
    for (int id = g.regions[r].first; id < g.regions[r].last; ++id)
      if (!g.encloses(r, g.nodes[id].region)) return "a node outside its region";
  return nullptr;
}

bool same(const planning::placed_graph& a, const planning::placed_graph& b) {
  return a.of == b.of && a.origin == b.origin && a.is_copy == b.is_copy;
}

}  // namespace

TEST_CASE(
    "D17: placement is a pure function, and calls over several devices give the oracle's bits") {
  const auto vs = virtual_devices(
      cpu(), {{.name = "a0", .kind = device_kind::cpu}, {.name = "a1", .kind = device_kind::cpu}});
  device_entry* const places[] = {nullptr, vs[0].entry(), vs[1].entry()};
  std::int64_t transfers = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed + 7);
    const random_graph r = make_random_graph(seed);
    interpreter run(r.g.view(), r.arguments);
    const std::vector<tensor> expected = run.run(), variables = run.arguments();
    const graph g = asking(r.g.view(), random);
    std::vector<device_block> arguments;
    std::vector<leaf> leaves;
    for (int i = 0; i < g.arguments.size(); ++i) {
      const argument& a = g.arguments[i];
      const bool memory = a.kind == argument_kind::array || a.kind == argument_kind::variable;
      arguments.emplace_back(r.arguments[static_cast<std::size_t>(i)],
                             memory ? places[random() % 3] : nullptr);
      device_block& m = arguments.back();
      leaf l;
      l.kind = a.kind;
      l.type = m.host().type();
      l.rank = m.host().rank();
      l.extents = m.host().shape();
      l.data = m.data();
      l.place = m.where();
      if (l.kind == argument_kind::variable) l.identity = l.data;
      if (l.kind == argument_kind::extents) {
        l.rank = a.rank;
        l.extents = static_cast<const std::int64_t*>(m.data());
        l.data = nullptr;
      }
      leaves.push_back(l);
    }
    const planning::graph_facts facts(g.view());
    call_request request{leaves.data(), static_cast<int>(leaves.size()), nullptr, 0};
    request.where = places[random() % 3];
    request.guarded = true;
    std::vector<device_entry*> named;
    for (std::int32_t at : facts.named)
      named.push_back(calque::detail::find_device(device_name{g.chars.begin() + at}).get());
    request.named = named.data();
    request.named_count = static_cast<int>(named.size());
    const planning::sized_graph sizes(g.view(), leaves.data(), static_cast<int>(leaves.size()));
    const planning::placement first(sizes, facts, request), second(sizes, facts, request);
    const planning::placed_graph p(sizes, first), q(sizes, second);
    const char* const fault = fault_of(p);
    CHECK_MESSAGE(fault == nullptr, std::string(fault ? fault : ""));
    REQUIRE(same(p, q));
    for (int id = 0; id < p.g.nodes.size(); ++id)
      transfers += p.g.nodes[id].op->kind == op_kind::transfer;

    const interpreted_kernels kernels(g.view());
    plan_cache cache(g.view(), kernels.table());
    const plan_lease plan = cache.find(request);
    std::vector<device_block> results;
    std::vector<void*> addresses;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      tensor garbage = expected[k];
      for (constant& c : garbage.data) c = {1, 1};
      results.emplace_back(garbage, plan->result_place(static_cast<int>(k)));
      addresses.push_back(results.back().data());
    }
    replay(*plan, leaves.data(), addresses.data());
    for (std::size_t k = 0; k < expected.size(); ++k)
      REQUIRE(same_values(results[k].value(), expected[k]));
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (leaves[i].kind == argument_kind::variable)
        REQUIRE(same_values(arguments[i].value(), variables[i]));
  }
  CHECK(transfers > 1000);
  CHECK(vs[0].counters().launches > 1000);
}
