#include "papers/direction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/errors.h"
#include "base/split.h"

namespace leeway::app {
namespace {

void Trim(std::string& text) {
  while (!text.empty() && text.front() == ' ') text.erase(text.begin());
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

Result<const scenario::Cell*> CellLabelled(const scenario::Study& study, const std::string& label) {
  const auto found = std::ranges::find(study.cells, label, &scenario::Cell::label);
  if (found != study.cells.end()) return &*found;
  std::vector<std::string> known;
  for (const scenario::Cell& cell : study.cells) known.push_back(cell.label);
  return InvalidArgument("unknown cell \"{}\"; known: {}{}", label, fmt::join(known, "; "),
                         DidYouMean(label, known));
}

Result<Direction> DirectionOf(const scenario::Study& study, const std::string& line) {
  std::vector<std::string> parts = SplitAt(line, '|');
  std::ranges::for_each(parts, Trim);
  if (parts.size() != 5) return InvalidArgument("got {} parts, wanted 5, parted by |", parts.size());
  Direction direction{parts[0], parts[1], parts[2], parts[3], std::nullopt, {}, {}};
  const auto figures = scenario::AllFigures();
  const auto figure = std::ranges::find(figures, parts[1], &scenario::Figure::name);
  if (figure == figures.end()) return InvalidArgument("unknown figure \"{}\"", parts[1]);
  LW_ASSIGN_OR_RETURN(const scenario::Cell* const of, CellLabelled(study, parts[2]));
  LW_ASSIGN_OR_RETURN(const scenario::Cell* const over, CellLabelled(study, parts[3]));
  if (parts[4] != "-") {
    double paper = 0;
    const char* const end = parts[4].data() + parts[4].size();
    const auto [stopped, error] = std::from_chars(parts[4].data(), end, paper);
    if (error != std::errc() || stopped != end)
      return InvalidArgument("got \"{}\", wanted the paper's ratio, or -", parts[4]);
    direction.paper = paper;
  }
  for (std::size_t seed = 0; seed < study.seeds.size(); ++seed) {
    const scenario::RunRecord& first = of->records[seed];
    const scenario::RunRecord& second = over->records[seed];
    if (!first.errors.empty() || !second.errors.empty()) continue;
    direction.ratios.push_back(figure->of(first) / figure->of(second));
  }
  direction.ours = scenario::SpreadOf(direction.ratios);
  return direction;
}

// -1 below 1, 1 above it, 0 within a hundredth of it. Nothing: the ratio is not a number.
std::optional<int> SideOf(double ratio) {
  constexpr double kNothing = 0.01;
  if (std::isnan(ratio)) return std::nullopt;
  if (std::abs(ratio - 1) <= kNothing) return 0;
  return ratio < 1 ? -1 : 1;
}

// Whether every seed is on the paper's side of 1.
std::string Verdict(const Direction& direction) {
  const auto is_number = [](double ratio) { return !std::isnan(ratio); };
  if (!direction.paper || !is_number(*direction.paper)) return "-";
  if (std::ranges::none_of(direction.ratios, is_number)) return "-";
  const auto same = std::ranges::count(direction.ratios, SideOf(*direction.paper), SideOf);
  if (same == 0) return "no";
  return same == std::ssize(direction.ratios) ? "yes" : "not in every seed";
}

std::string Ratio(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : std::string("-");
}

}  // namespace

Result<std::vector<Direction>> DirectionsOf(const scenario::Study& study, const StudyWords& words) {
  std::vector<Direction> directions;
  for (const std::string& line : words.directions) {
    Result<Direction> direction = DirectionOf(study, line);
    if (!direction.ok()) return direction.status().WithContext(fmt::format("direction \"{}\"", line));
    directions.push_back(std::move(*direction));
  }
  return directions;
}

chart::Table TableOfDirections(const std::vector<Direction>& directions, std::size_t seeds) {
  chart::Table table;
  table.columns = {{"direction", chart::Align::kLeft},
                   {"figure", chart::Align::kLeft},
                   {"ratio"},
                   {"least"},
                   {"most"},
                   {"paper"},
                   {"same side", chart::Align::kLeft}};
  for (const Direction& direction : directions) {
    std::string ratio = Ratio(direction.ours.mean);
    if (seeds > 1 && std::isfinite(direction.ours.mean))
      ratio += fmt::format(" ± {:.3f}", direction.ours.deviation);
    table.rows.push_back({direction.what, scenario::FigureNamed(direction.figure).title, ratio,
                          Ratio(direction.ours.low), Ratio(direction.ours.high),
                          direction.paper ? Ratio(*direction.paper) : std::string("-"), Verdict(direction)});
  }
  table.note = fmt::format("Ratios, taken seed by seed over {}.",
                           seeds == 1 ? std::string("one seed") : fmt::format("{} seeds", seeds));
  return table;
}

}  // namespace leeway::app
