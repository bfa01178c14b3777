// The verdict of a study: what was compared, what came out and who waited, in sentences made from its
// numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/study.h"
#include "simulate/common_level.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// A difference counts only if it is larger than its own spread over the seeds.
[[nodiscard]] std::vector<std::string> VerdictOf(const scenario::Study& study, const StudyWords& words,
                                                 const std::optional<CommonLevel>& level);

}  // namespace leeway::app
