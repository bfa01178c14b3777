// Which workers' policies (partial pull, exchange) a synchronization model leaves room for.
//
// Called wherever the policies of a job are chosen: before it starts, and for every rule and switch. A pure
// function.
#pragma once

#include <string_view>

#include "base/registry.h"
#include "leeway/exchange.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

// An error names both policies and a remedy. `sync` is the model's spec. REQUIRES: `pull` and `exchange`
// parse, or their errors are found elsewhere.
[[nodiscard]] Status CheckWorkerFit(const SyncModel& model, std::string_view sync, std::string_view pull,
                                    std::string_view exchange, const Registry<ExchangePolicy>& exchanges);

}  // namespace leeway
