// WorkerPolicies: what a worker makes the policies of its job from.
#pragma once

#include "base/registry.h"
#include "leeway/exchange.h"
#include "leeway/sync_model.h"

namespace leeway {

// Owned by the caller for the node's life.
struct WorkerPolicies {
  const Registry<SyncModel>& sync;
  const Registry<ExchangePolicy>& exchanges;
};

}  // namespace leeway
