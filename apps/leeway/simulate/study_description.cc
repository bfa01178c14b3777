#include "simulate/study_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/split.h"
#include "scenario/keys.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

constexpr const char* kSync = "policies.sync";

std::string LastWord(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// Two keys end with "plan".
std::string ShortName(const std::string& key) { return LastWord(key) == "plan" ? key : LastWord(key); }

std::string OrNone(const std::string& value) { return value.empty() ? "none" : value; }

std::vector<std::string> SweptKeys(const StudyWords& words) {
  std::vector<std::string> keys;
  for (const std::string& sweep : words.sweeps) {
    for (const std::string& key : SplitAt(sweep.substr(0, sweep.find('=')), '+')) keys.push_back(key);
  }
  return keys;
}

bool IsSwept(const std::string& key, const StudyWords& words) {
  const std::vector<std::string> keys = SweptKeys(words);
  return std::ranges::find(keys, key) != keys.end();
}

// Each worker or server that is not as fast as the others: "worker 7: 2.5 times slower".
std::string SlowOnes(const std::vector<std::pair<std::uint32_t, double>>& factors, const char* what) {
  std::vector<std::string> texts;
  for (const auto& [which, factor] : factors) {
    if (factor == 1) continue;
    const bool slower = factor > 1;
    texts.push_back(fmt::format("{} {}: {:.3g} times {}", what, which, slower ? factor : 1 / factor,
                                slower ? "slower" : "faster"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// A quoted string of JSON is one of TOML.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A line of a file; empty without texts.
std::string ListLine(const char* key, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return fmt::format("{} = [{}]\n", key, fmt::join(quoted, ", "));
}

}  // namespace

std::string NameOf(const scenario::Cell& cell, const StudyWords& words) {
  if (!words.labels.empty() || cell.settings.empty()) return cell.label;
  std::vector<std::string> parts;
  for (const auto& [key, value] : cell.settings)
    parts.push_back(key == kSync ? value : fmt::format("{}={}", ShortName(key), OrNone(value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::optional<std::uint64_t> IterationsOfEach(const scenario::Study& study) {
  const auto pool = CommonOf(study, &scenario::Scenario::pool);
  return pool && *pool == 0 ? CommonOf(study, &scenario::Scenario::iterations) : std::nullopt;
}

std::string SeedsText(const scenario::Study& study) {
  if (study.seeds.size() < 2) return fmt::format("seed {}", study.seeds.empty() ? 0 : study.seeds[0]);
  return fmt::format("seeds {} to {}", study.seeds.front(), study.seeds.back());
}

std::string SubtitleOf(const scenario::Study& study, const StudyWords& words) {
  const scenario::Scenario& base = study.base;
  std::vector<std::string> parts = {"Simulated"};
  for (const std::string& sweep : words.sweeps) {
    const std::size_t equals = sweep.find('=');
    std::string values = sweep.substr(equals + 1);
    const bool parted = values.find(';') != std::string::npos;
    std::vector<std::string> shown = SplitAt(values, parted ? ';' : ',');
    std::ranges::transform(shown, shown.begin(), OrNone);
    parts.push_back(fmt::format("{} = {}", sweep.substr(0, equals), fmt::join(shown, parted ? "; " : ", ")));
  }
  if (!IsSwept(kSync, words)) parts.push_back(base.job.sync);
  if (!IsSwept("cluster.workers", words)) parts.push_back(Counted(base.job.workers, "worker"));
  if (!IsSwept("cluster.servers", words)) parts.push_back(Counted(base.job.servers, "server"));
  if (!IsSwept("training.problem", words)) parts.push_back(base.problem);
  parts.push_back(SeedsText(study));
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::vector<std::pair<std::string, std::string>> FactsOf(const scenario::Study& study,
                                                         const StudyWords& words) {
  const scenario::Scenario& base = study.base;
  std::vector<std::pair<std::string, std::string>> facts;
  // `keys`: all that the value is made of.
  const auto add = [&](const char* name, const std::vector<std::string>& keys, const std::string& value) {
    const bool swept = std::ranges::any_of(keys, [&](const std::string& key) { return IsSwept(key, words); });
    if (swept || !value.empty()) facts.emplace_back(name, swept ? "swept" : value);
  };
  add("Iterations", {"iterations", "pool"},
      base.pool > 0 ? fmt::format("{} of all workers together", base.pool)
                    : fmt::format("{} of every worker", base.iterations));
  add("Gradient", {"compute.base_s"}, fmt::format("{:.4g} s", base.compute.base_s));
  add("Slow workers", {"compute.factors"}, SlowOnes(base.compute.factors, "worker"));
  add("Slowed workers", {"compute.slowed"}, SlowOnes(base.compute.slowed, "worker"));
  add("Slow servers", {"server.factors"}, SlowOnes(base.server.factors, "server"));
  add("Links", {"links.worker_gbit", "links.server_gbit"},
      fmt::format("workers {:.3g} Gbit/s, servers {:.3g} Gbit/s", base.links.worker_bytes_per_second * 8e-9,
                  base.links.server_bytes_per_second * 8e-9));
  add("Cards", {"cluster.together"}, base.together ? "worker N and server N share one" : "");
  add("Late answers", {"delays.answer_chance", "delays.answer_s"},
      base.answer_delay.chance > 0
          ? fmt::format("{:.3g} % by {:.3g} s", 100 * base.answer_delay.chance, base.answer_delay.seconds)
          : "");
  add("Switches", {"policies.switches"}, fmt::format("{}", fmt::join(base.switches, "; ")));
  add("Changes", {"changes.plan"}, fmt::format("{}", fmt::join(base.changes, "; ")));
  add("Faults", {"faults.plan"}, fmt::format("{}", fmt::join(base.faults.plan, "; ")));
  add("Optimizer", {"training.optimizer", "training.rate"},
      fmt::format("{}, rate {:.4g}", base.optimizer, base.rate.rate));
  std::size_t well = 0;
  for (const scenario::Cell& cell : study.cells) well += scenario::RunsThatEndedWell(cell).size();
  facts.emplace_back("Runs",
                     fmt::format("{} of {} ended well", well, study.cells.size() * study.seeds.size()));
  return facts;
}

std::string StudyToml(const scenario::Study& study, const StudyWords& words) {
  std::string text;
  if (!study.seeds.empty() && study.seeds.front() != 1)
    text += fmt::format("# leeway sim THIS_FILE --seed {}\n", study.seeds.front());
  std::istringstream lines(scenario::ToToml(study.base));
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1) + ".";
    const std::string key = section + line.substr(0, line.find(' '));
    text += (IsSwept(key, words) ? fmt::format("# {} is swept: see [study]", LastWord(key)) : line) + "\n";
  }
  text += fmt::format("\n[study]\n");
  if (!words.title.empty()) text += fmt::format("title = {}\n", Quoted(words.title));
  text +=
      ListLine("texts", words.texts) + ListLine("sweeps", words.sweeps) + ListLine("labels", words.labels);
  text += fmt::format("seeds = {}\n", study.seeds.size());
  return text + ListLine("figures", words.figures) + ListLine("plots", words.plots);
}

}  // namespace leeway::app
