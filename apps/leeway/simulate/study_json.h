// A study as JSON: what ran, and every figure of every run. The same study gives the same bytes.
#pragma once

#include <string>

#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// With what `words` have of a paper, or of a run that was measured, beside the figures of the same name.
[[nodiscard]] std::string StudyJson(const scenario::Study& study, const StudyWords& words = {});

}  // namespace leeway::app
