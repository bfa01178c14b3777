// TrainScenario: the set-up of a train bench as a scenario file for `leeway sim`, one cell for each row.
#pragma once

#include <string>

#include "bench/cluster/train.h"

namespace leeway::bench {

// Of the undivided model and rate. The row alone has no job, and no cell.
[[nodiscard]] Result<std::string> TrainScenario(const TrainOptions& options);

}  // namespace leeway::bench
