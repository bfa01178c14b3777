// Policies: every policy by name, for the nodes of one process or one simulated cluster.
#pragma once

#include "base/registry.h"
#include "leeway/exchange.h"
#include "leeway/optimizer.h"
#include "leeway/placement.h"
#include "leeway/sync_model.h"

namespace leeway {

// Users start from Builtin() and Add their own; a plug-in adds through assembly/plugin_registries.h.
struct Policies {
  Registry<SyncModel> sync;
  Registry<ExchangePolicy> exchanges;
  Registry<Optimizer> optimizers;
  Registry<Placement> placements;
  static Policies Builtin();
};

}  // namespace leeway
