// Breaks one rule after another on purpose and runs a workload over seeds until it notices. Succeeds if a
// workload found every broken rule; prints the seed. With a name it tries that mutant alone.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutation.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/ledger.h"
#include "sim/workloads/pool.h"
#include "sim/workloads/power_loss.h"
#include "sim/workloads/resume.h"
#include "sim/workloads/scheduler_death.h"

namespace {

using namespace leeway;

// The problems of one run.
using Workload = std::function<std::vector<std::string>(std::uint64_t seed)>;

std::vector<std::string> Ledger(std::uint64_t seed) {
  sim::LedgerOptions options;
  options.seed = seed;
  return sim::RunLedger(options).problems;
}
std::vector<std::string> Churn(std::uint64_t seed) { return sim::RunChurn({.seed = seed}).problems; }
std::vector<std::string> Faults(std::uint64_t seed) {
  return sim::RunChurn({.seed = seed, .all_roles = true}).problems;
}
std::vector<std::string> PowerLoss(std::uint64_t seed) { return sim::RunPowerLoss(seed).problems; }

std::vector<std::string> Pool(std::uint64_t seed) {
  return sim::RunPool({.seed = seed, .workers = 4, .sync = "ssp:3"}).problems;
}

std::vector<std::string> SchedulerDeath(std::uint64_t seed) {
  return sim::RunSchedulerDeath({.seed = seed}).problems;
}

std::vector<std::string> Resume(std::uint64_t seed) {
  return sim::RunResume({.seed = seed, .sync = ""}).problems;
}

struct Mutant {
  const char* name;
  const char* rule;
  const char* where;
  Workload workload;
};

const Mutant kMutants[] = {
    {"ledger_off", "a push is applied once", "ledger", Ledger},
    {"take_gap", "a push is taken only after the one before it", "ledger", Ledger},
    {"term_not_raised", "a new owner has a new term", "faults", Faults},
    {"same_incarnation", "a new life has a new incarnation", "churn", Churn},
    {"joiner_begins_anywhere", "a late worker begins where every shard counts it", "churn", Churn},
    {"dead_not_recounted", "a block counts anew when a member is gone", "faults", Faults},
    {"place_given_away", "a former owner is fenced, and a place that is taken is not given away", "faults",
     Faults},
    {"lost_is_awaited", "nobody waits for what went with a server", "faults", Faults},
    {"not_renumbered", "under a new term pushes follow what the owner has", "faults", Faults},
    {"ledger_not_saved", "a checkpoint holds the ledger", "faults", Faults},
    {"announce_first", "a change is in the log before it is announced", "scheduler", SchedulerDeath},
    {"finished_forgotten", "steps are divided by members whose data has ended", "pool", Pool},
    {"begins_below_former", "a new life begins above all that its former lives gave", "resume", Resume},
    {"all_begin_lowest", "each rank goes on where its own pushes in a checkpoint end", "resume", Resume},
    {"taken_batch_returned", "a batch whose gradient was taken is not leased again", "resume", Resume},
    {"pools_not_saved", "a checkpoint holds the pools", "resume", Resume},
    {"ended_not_asked_again", "a server that dies takes pushes of workers along that are gone", "resume",
     Resume},
    {"open_sums_kept", "a resume drops the iterations that ranks compute again", "power loss", PowerLoss},
    {"shard_file_not_synced", "files are synced before the manifest names them", "power loss", PowerLoss},
    {"manifest_not_synced", "the manifest is synced before its name is", "power loss", PowerLoss},
    {"manifest_in_place", "the manifest gets its name last", "power loss", PowerLoss},
};
// Power that fails between two writes of one file is rare: the first seed that meets it is 731.
constexpr std::uint64_t kSeedsMax = 2000;

bool IsFoundOut(const Mutant& mutant) {
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const std::vector<std::string> problems = mutant.workload(seed);
    if (problems.empty()) continue;
    std::printf("%-24s %-10s seed %3llu  (%s) %.160s\n", mutant.name, mutant.where,
                static_cast<unsigned long long>(seed), mutant.rule, problems[0].c_str());
    std::fflush(stdout);
    return true;
  }
  std::printf("%-24s %-10s NOT FOUND in %llu seeds (%s)\n", mutant.name, mutant.where,
              static_cast<unsigned long long>(kSeedsMax), mutant.rule);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  int missed = 0;
  bool known = argc <= 1;
  for (const Mutant& mutant : kMutants) {
    if (argc > 1 && std::string_view(argv[1]) != mutant.name) continue;
    known = true;
    leeway::active_mutation = mutant.name;
    missed += IsFoundOut(mutant) ? 0 : 1;
  }
  if (!known) std::printf("no mutant is called %s\n", argv[1]);
  return missed == 0 && known ? 0 : 1;
}
