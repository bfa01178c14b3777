#include "simulate/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenario/figures.h"

namespace leeway::app {
namespace {

// Not the same nothing everywhere: zero, or no number.
bool SaysSomething(const scenario::Figure& figure, const scenario::Study& study) {
  return std::ranges::any_of(study.cells, [&](const scenario::Cell& cell) {
    return std::ranges::any_of(cell.records, [&](const scenario::RunRecord& record) {
      const double value = figure.of(record);
      return std::isfinite(value) && value != 0;
    });
  });
}

}  // namespace

const PaperFigure* PaperOf(const StudyWords& words, const std::string& figure) {
  const auto found = std::ranges::find(words.paper, figure, &PaperFigure::figure);
  return found == words.paper.end() ? nullptr : &*found;
}

std::vector<std::string> ShownFigures(const scenario::Study& study, const StudyWords& words) {
  if (!words.figures.empty()) return words.figures;
  std::vector<std::string> names;
  for (const scenario::Figure& figure : scenario::AllFigures()) {
    if (figure.shown == scenario::Figure::Shown::kIfItSaysSomething && SaysSomething(figure, study))
      names.push_back(figure.name);
  }
  return names;
}

StudyTable TableOf(const scenario::Study& study, const StudyWords& words) {
  StudyTable table;
  const std::vector<std::string> names = ShownFigures(study, words);
  table.columns.emplace_back();
  for (const std::string& name : names) {
    table.columns.push_back(scenario::FigureNamed(name).title);
    if (PaperOf(words, name) != nullptr) table.columns.push_back(words.paper_name);
  }
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const scenario::Cell& cell = study.cells[i];
    const std::size_t well = scenario::RunsThatEndedWell(cell).size();
    std::vector<std::string> row = {
        well == cell.records.size()
            ? cell.label
            : fmt::format("{} ({} of {} runs ended well)", cell.label, well, cell.records.size())};
    for (const std::string& name : names) {
      const scenario::Spread spread = scenario::SpreadOf(scenario::FigureNamed(name), cell.records);
      row.push_back(scenario::ToText(spread, study.seeds.size()));
      if (const PaperFigure* const paper = PaperOf(words, name)) {
        const double value = i < paper->values.size() ? paper->values[i] : NAN;
        row.push_back(scenario::ToText({.mean = value}, 1));
      }
    }
    table.rows.push_back(std::move(row));
  }
  if (study.seeds.size() > 1) {
    table.note = fmt::format("Mean and standard deviation over {} seeds.", study.seeds.size());
  }
  return table;
}

}  // namespace leeway::app
