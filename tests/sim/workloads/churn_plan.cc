#include "sim/workloads/churn_plan.h"

#include <iterator>
#include <utility>

#include "base/hash.h"
#include "sim/workloads/drawn_job.h"

namespace leeway::sim {
namespace {

constexpr DrawnSync kChurnSyncs[] = {
    {"bsp", "aggregate"},   {"bsp", "aggregate:reduce=ordered"},
    {"bsp", "immediate"},   {"asp", "immediate"},
    {"ssp:1", "immediate"}, {"ssp:3", "immediate"},
    {"ssp:2", "aggregate"},
};
constexpr std::uint64_t kRolesStream = 43, kRulesStream = 47;
constexpr const char* kChurnSwitched[] = {"", "tables=table0 ", "tables=table1 ", "server=0 "};

// Drawn from a stream of its own, as the roles are.
std::vector<DrawnSwitch> DrawChurnSwitches(const ChurnOptions& given, const ChurnPlan& plan) {
  SeededRandom random(Hash64({given.seed, kRulesStream}));
  std::vector<DrawnSwitch> switches;
  for (std::uint32_t i = 0; i < given.switches; ++i) {
    DrawnSwitch next;
    next.rank = static_cast<std::uint32_t>(random.Below(plan.job.workers));
    next.step = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(plan.iterations)));
    next.rule = DrawRule(kChurnSwitched[random.Below(std::size(kChurnSwitched))], random);
    switches.push_back(std::move(next));
  }
  return switches;
}

}  // namespace

ChurnPlan MakeChurnPlan(const ChurnOptions& given, SeededRandom& random) {
  ChurnPlan plan;
  plan.job = DrawJob("churn", kChurnSyncs, given.sync, given.seed, kLivesMax, random);
  plan.skips = plan.job.sync.starts_with("drop") || plan.job.sync.starts_with("psp");
  plan.iterations = static_cast<std::int64_t>(random.Between(60, 120));
  plan.worker_deeds = static_cast<std::uint32_t>(random.Between(1, 5));
  plan.on_worker_loss = random.Chance(0.3) ? OnWorkerLoss::kWait : OnWorkerLoss::kShrink;
  plan.states = given.states;
  plan.grouped = given.seed % 8 == 7;
  plan.switches = DrawChurnSwitches(given, plan);
  plan.skips = plan.skips || !plan.switches.empty();
  if (!given.all_roles) return plan;

  // Drawn from a stream of its own, so that the draws for the workers stay the same.
  SeededRandom roles(Hash64({given.seed, kRolesStream}));
  plan.all_roles = true;
  plan.checkpoint_every = roles.Between(3, 15);
  plan.worker_deeds = static_cast<std::uint32_t>(roles.Between(0, 2));
  plan.server_deeds = static_cast<std::uint32_t>(roles.Between(0, 3));
  plan.scheduler_deeds = static_cast<std::uint32_t>(roles.Between(0, 2));
  plan.disk_deeds = static_cast<std::uint32_t>(roles.Between(0, 2));
  // If other roles die as well, all workers might be dead at once.
  const bool may_remove = plan.worker_deeds == 0 && plan.on_worker_loss == OnWorkerLoss::kShrink;
  plan.removals = may_remove ? 1 : 0;
  return plan;
}

}  // namespace leeway::sim
