// The table of a study: a row for each cell, a column for each figure, a paper's beside ours.
#pragma once

#include <string>
#include <vector>

#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

struct StudyTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as long as `columns`
  std::string note;                            // below the table
};

// The figures that `words` names, or those that say something of this study.
[[nodiscard]] std::vector<std::string> ShownFigures(const scenario::Study& study, const StudyWords& words);
[[nodiscard]] StudyTable TableOf(const scenario::Study& study, const StudyWords& words);
// The paper's values of a figure; null: it has none.
[[nodiscard]] const PaperFigure* PaperOf(const StudyWords& words, const std::string& figure);

}  // namespace leeway::app
