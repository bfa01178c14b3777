// StudyTableText: the table of a study for a terminal or a file of text.
#pragma once

#include <cstddef>
#include <string>

#include "simulate/study_table.h"

namespace leeway::app {

// A table that is wider than `columns_max` becomes several below each other, each with the first column. Its
// columns that are the same in every row become lines below.
[[nodiscard]] std::string StudyTableText(const StudyTable& table, std::size_t columns_max);

}  // namespace leeway::app
