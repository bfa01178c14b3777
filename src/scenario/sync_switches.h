// SyncSwitches: gives tables of a running job other synchronization models, at the times that the scenario
// says, as `leeway ctl set-sync` does:
//
//   at=150 sync=asp                        from 150 s on all tables
//   at=20 tables=out* sync=ssp:3           a rule as policies.rules takes it
//
// Thread rule: that of the queue. Lifetime rule: it outlives the queue's events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "leeway/status.h"
#include "scenario/processes.h"
#include "scenario/run_books.h"
#include "scenario/scenario.h"
#include "sim/cluster.h"

namespace leeway::scenario {

struct SyncSwitch {
  double at_s = 0;   // since the first iteration
  std::string rule;  // CheckPolicies asks a scheduler whether it is one
};

// All of policies.switches. An error names key and text.
[[nodiscard]] Result<std::vector<SyncSwitch>> SyncSwitchesOf(const Scenario& scenario);

class SyncSwitches {
 public:
  // Borrows cluster, processes and books.
  SyncSwitches(sim::Cluster& cluster, const Processes& processes, RunBooks& books,
               std::vector<SyncSwitch> all)
      : cluster_(cluster), processes_(processes), books_(books), all_(std::move(all)) {}

  // Time 0 of the switches is now.
  void Start();

 private:
  // The first worker that trains asks the scheduler. Without any there is nothing left to switch.
  void Ask(const SyncSwitch& change);
  void AskLater(const SyncSwitch& change);
  // Asks again if processes have died, and the answer has not come: the worker that asked may be one of them.
  void Watch(const SyncSwitch& change, const std::shared_ptr<bool>& is_open, std::uint64_t deaths);

  sim::Cluster& cluster_;
  const Processes& processes_;
  RunBooks& books_;
  const std::vector<SyncSwitch> all_;
};

}  // namespace leeway::scenario
