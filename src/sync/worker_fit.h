// Which of the things that workers do (partial pull, exchange) a synchronization model leaves room for.
//
// Asked wherever the policies of a job are chosen: before it starts, and for every rule and switch. A pure
// function.
#pragma once

#include <string_view>

#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

// An error names both and says what to use. `sync` is the model's spec. REQUIRES: `pull` and `exchange`
// parse, or are errors that are found elsewhere.
[[nodiscard]] Status CheckWorkerFit(const SyncModel& model, std::string_view sync, std::string_view pull,
                                    std::string_view exchange);

}  // namespace leeway
