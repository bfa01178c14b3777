// SchedulerPolicies: what the scheduler checks tables and job options against.
#pragma once

#include "base/registry.h"
#include "leeway/exchange.h"
#include "leeway/optimizer.h"
#include "leeway/placement.h"
#include "leeway/sync_model.h"

namespace leeway {

// Owned by the caller for the node's life.
struct SchedulerPolicies {
  const Registry<SyncModel>& sync;
  const Registry<Optimizer>& optimizers;
  const Registry<Placement>& placements;
  const Registry<ExchangePolicy>& exchanges;
};

}  // namespace leeway
