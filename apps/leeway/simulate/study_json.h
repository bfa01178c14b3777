// A study as JSON: what ran, and every figure of every run. The same study gives the same bytes.
#pragma once

#include <string>

#include "scenario/study.h"

namespace leeway::app {

[[nodiscard]] std::string StudyJson(const scenario::Study& study);

}  // namespace leeway::app
