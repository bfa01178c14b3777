// The report of a study: plots, table and scenario, as a section of a page that opens without a network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chart/page.h"
#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// Pictures that also go into files, with the name of each.
using NamedDrawing = std::pair<std::string, chart::Drawing>;

// Draws the plots that `words` asks for, or those that fit the study.
[[nodiscard]] std::vector<NamedDrawing> PlotsOf(const scenario::Study& study, const StudyWords& words);
// Everything of one study.
[[nodiscard]] chart::Section SectionOf(const scenario::Study& study, const StudyWords& words);
[[nodiscard]] std::string ReportHtml(const scenario::Study& study, const StudyWords& words);

}  // namespace leeway::app
