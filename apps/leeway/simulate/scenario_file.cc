#include "simulate/scenario_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"
#include "scenario/figures.h"
#include "toml/toml_node.h"

namespace leeway::app {
namespace {

// A number as it would be written on a command line.
std::string Bare(const toml::node& node) {
  if (node.is_string()) return *node.value<std::string>();
  if (node.is_integer()) return fmt::format("{}", *node.value<std::int64_t>());
  if (node.is_floating_point()) return fmt::format("{}", *node.value<double>());
  if (node.is_boolean()) return *node.value<bool>() ? "true" : "false";
  return {};
}

Result<scenario::Written> WrittenOf(const toml::node& node, const std::string& key, const std::string& name) {
  scenario::Written value{.texts = {}, .is_quoted = node.is_string(), .got = Shown(node)};
  const toml::array* const list = node.as_array();
  if (list == nullptr) {
    if (!node.is_value() || node.is_date() || node.is_time() || node.is_date_time()) {
      return InvalidArgument("{} line {}: {}: got {}, wanted a value", name, LineOf(node), key, Shown(node));
    }
    value.texts.push_back(Bare(node));
    return value;
  }
  value.is_list = true;
  for (const toml::node& each : *list) {
    if (each.is_array() || each.is_table()) {
      return InvalidArgument("{} line {}: {}: got a list with {} in it, wanted one of values", name,
                             LineOf(each), key, Shown(each));
    }
    value.texts.push_back(Bare(each));
  }
  return value;
}

Status Collect(const toml::table& section, const std::string& before, ScenarioText& file) {
  for (const auto& [word, node] : section) {
    const std::string key = before + std::string(word.str());
    if (const toml::table* const inner = node.as_table(); inner != nullptr) {
      LW_RETURN_IF_ERROR(Collect(*inner, key + ".", file));
      continue;
    }
    if (key == "include") {
      if (!node.is_string()) {
        return InvalidArgument("{} line {}: include: got {}, wanted the path of a file in quotes", file.name,
                               LineOf(node), Shown(node));
      }
      file.includes = *node.value<std::string>();
      continue;
    }
    LW_ASSIGN_OR_RETURN(scenario::Written value, WrittenOf(node, key, file.name));
    file.lines.push_back({key, file.name, LineOf(node), std::move(value)});
  }
  return Status::Ok();
}

Status TakeSeeds(const ScenarioLine& line, StudyWords& study) {
  constexpr std::uint32_t kSeedsMax = 10'000;
  std::uint32_t seeds = 0;  // refused, like a text that is not a number
  if (!line.value.is_list && !line.value.is_quoted)
    seeds = NumberFrom<std::uint32_t>(line.value.texts[0]).value_or(0);
  if (seeds < 1 || seeds > kSeedsMax) {
    return InvalidArgument("study.seeds: got {}, wanted a whole number from 1 to {}", line.value.got,
                           kSeedsMax);
  }
  study.seeds = seeds;
  return Status::Ok();
}

Status CheckFigure(const std::string& figure, const std::string& where) {
  const auto known = scenario::AllFigures();
  if (std::ranges::find(known, figure, &scenario::Figure::name) != known.end()) return Status::Ok();
  std::vector<std::string> names;
  for (const scenario::Figure& each : known) names.push_back(each.name);
  return InvalidArgument("{}: unknown figure \"{}\"; known: {}{}", where, figure, fmt::join(names, ", "),
                         DidYouMean(figure, names));
}

// "bars:FIGURE", "lines:FIGURE", "curve:accuracy", "curve:loss", "waits" or "answers".
Status CheckPlot(const std::string& plot) {
  const std::size_t colon = plot.find(':');
  const std::string kind = plot.substr(0, colon);
  if (colon != std::string::npos && (kind == "bars" || kind == "lines"))
    return CheckFigure(plot.substr(colon + 1), "study.plots");
  if (plot == "curve:accuracy" || plot == "curve:loss" || plot == "waits" || plot == "answers")
    return Status::Ok();
  return InvalidArgument(
      "study.plots: got \"{}\", wanted bars:FIGURE, lines:FIGURE, curve:accuracy, curve:loss, waits or "
      "answers",
      plot);
}

// `word` is the key without "study.".
Status TakeStudy(const std::string& word, const ScenarioLine& line, StudyWords& study) {
  if (word == "seeds") return TakeSeeds(line, study);
  if (word.starts_with("quick.")) {
    ScenarioLine quick = line;
    quick.key = word.substr(6);
    study.quick.push_back(std::move(quick));
    return Status::Ok();
  }
  if (word == "title") {
    if (line.value.is_list) return InvalidArgument("{}: got {}, wanted a text", line.key, line.value.got);
    study.title = line.value.texts[0];
    return Status::Ok();
  }
  const std::pair<const char*, std::vector<std::string>*> lists[] = {{"texts", &study.texts},
                                                                     {"sweeps", &study.sweeps},
                                                                     {"labels", &study.labels},
                                                                     {"figures", &study.figures},
                                                                     {"plots", &study.plots}};
  for (const auto& [name, list] : lists) {
    if (word != name) continue;
    if (!line.value.is_list)
      return InvalidArgument("{}: got {}, wanted a list of texts", line.key, line.value.got);
    for (const std::string& text : line.value.texts) {
      if (word == "figures") {
        LW_RETURN_IF_ERROR(CheckFigure(text, line.key));
      } else if (word == "plots") {
        LW_RETURN_IF_ERROR(CheckPlot(text));
      }
    }
    *list = line.value.texts;
    return Status::Ok();
  }
  std::vector<std::string> known;
  for (const scenario::KeyText& each : StudyKeys()) known.push_back(each.key.substr(6));
  return InvalidArgument("unknown key \"{}\"; known in [study]: {}{}", line.key, fmt::join(known, ", "),
                         DidYouMean(word, known));
}

Status Apply(const std::string& path, int depth, ScenarioFile& all) {
  if (depth > kIncludesMax) {
    return InvalidArgument("{}: got more than {} files that include each other", path, kIncludesMax);
  }
  LW_ASSIGN_OR_RETURN(const std::string text, ReadTomlText(path));
  LW_ASSIGN_OR_RETURN(const ScenarioText file, ParseScenario(text, path));
  if (!file.includes.empty()) {
    const auto beside = std::filesystem::path(path).parent_path() / file.includes;
    if (!std::filesystem::is_regular_file(beside)) {
      return NotFound("{}: include: got \"{}\", wanted a file: there is no {}", path, file.includes,
                      beside.string());
    }
    LW_RETURN_IF_ERROR(Apply(beside.string(), depth + 1, all));
  }
  return ApplyLines(file, all);
}

Status MakeQuick(ScenarioFile& all) {
  for (const ScenarioLine& line : all.study.quick) {
    const Status set = line.key == "seeds" ? TakeSeeds(line, all.study)
                                           : scenario::SetKey(all.scenario, line.key, line.value);
    if (!set.ok()) return set.WithContext(line.place() + ": study.quick");
    all.scenario.said_at[line.key] = line.place();
  }
  return Status::Ok();
}

}  // namespace

std::vector<scenario::KeyText> StudyKeys() {
  return {
      {"study.title", "text", "of the report; else the scenario's name", ""},
      {"study.texts", "a list of texts", "paragraphs above the table", ""},
      {"study.sweeps", "a list of sweeps, as --sweep takes them", "all combinations; one cell for each", ""},
      {"study.labels", "a list of texts", "one for each cell; else the values of the sweeps", ""},
      {"study.seeds", "a whole number from 1 to 10000", "runs of each cell", "1"},
      {"study.figures", "a list of figures: \"seconds\", \"dprs_per_100\"", "columns of the table; else all",
       ""},
      {"study.plots", "a list of bars:FIGURE, lines:FIGURE, curve:accuracy, curve:loss, waits, answers",
       "in the report", ""},
      {"study.quick.KEY", "as of the key", "what --quick changes", ""}};
}

Result<ScenarioText> ParseScenario(std::string_view text, const std::string& name) {
  // A TOML file never begins so, and a parser's message about it would help nobody.
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != std::string_view::npos && text[first] == '{') {
    return InvalidArgument(
        "{}: got JSON, wanted a scenario file, which is TOML (did you mean --from-run {}, for the record of "
        "a "
        "run?)",
        name, name);
  }
  LW_ASSIGN_OR_RETURN(const toml::table parsed, ParseToml(text, name));
  ScenarioText file;
  file.name = name;
  LW_RETURN_IF_ERROR(Collect(parsed, "", file));
  // toml++ sorts keys by name. Errors are reported in the order of lines.
  std::ranges::stable_sort(file.lines, {}, &ScenarioLine::line);
  return file;
}

Status ApplyLines(const ScenarioText& file, ScenarioFile& all) {
  for (const ScenarioLine& line : file.lines) {
    const Status set = line.key.starts_with("study.") ? TakeStudy(line.key.substr(6), line, all.study)
                                                      : scenario::SetKey(all.scenario, line.key, line.value);
    if (!set.ok()) return set.WithContext(line.place());
    all.scenario.said_at[line.key] = line.place();
  }
  return Status::Ok();
}

Result<ScenarioFile> ReadScenario(const std::string& path, Length length) {
  ScenarioFile all;
  all.scenario.name = std::filesystem::path(path).stem().string();
  LW_RETURN_IF_ERROR(Apply(path, 0, all));
  if (length == Length::kQuick) {
    LW_RETURN_IF_ERROR(MakeQuick(all));
  }
  LW_RETURN_IF_ERROR(scenario::CheckWhole(all.scenario));
  return all;
}

}  // namespace leeway::app
