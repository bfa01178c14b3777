// StudyDocument: a study as the page document that report/ draws (report/README.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// Draws the plots that `words` asks for, or those that fit the study. The same study gives the same document.
[[nodiscard]] nlohmann::ordered_json StudyDocument(const scenario::Study& study, const StudyWords& words);

}  // namespace leeway::app
