// Scenario files: TOML, with the keys of src/scenario/keys.h in sections, and `include = "other.toml"`, whose
// keys come first. An error says file, line, key, got, wanted.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/status.h"
#include "scenario/keys.h"
#include "scenario/scenario.h"

namespace leeway::app {

// So deep may files include each other.
inline constexpr int kIncludesMax = 4;

// One key of a file, where it stands.
struct ScenarioLine {
  std::string key;
  std::string file;
  std::uint32_t line = 0;
  scenario::Written value;
  [[nodiscard]] std::string place() const { return fmt::format("{} line {}", file, line); }
};

struct ScenarioText {
  std::string name;      // of the file
  std::string includes;  // the path of another one, relative to this one's folder; empty: none
  std::vector<ScenarioLine> lines;
};

// Numbers that a real run measured, shown beside the figures of the same name: one for each cell of the
// study.
struct PaperFigure {
  std::string figure;
  std::vector<double> values;  // not a number where nothing was measured
};

// The section [study]: which runs of the scenario make a table or a plot.
struct StudyWords {
  std::string title;                // empty: the scenario's name
  std::vector<std::string> texts;   // paragraphs above the table
  std::vector<std::string> sweeps;  // as --sweep takes them
  std::vector<std::string> labels;  // of the cells, in their order; empty: the values
  std::uint32_t seeds = 1;
  std::vector<std::string> figures;  // columns of the table; empty: all
  std::vector<std::string>
      plots;  // "bars:FIGURE", "lines:FIGURE", "curve:accuracy", "curve:loss", "waits", "answers"
  std::vector<PaperFigure> paper;    // of a prediction: what the recorded run measured
  std::string paper_name = "paper";  // what tables and plots call those: "measured"
  std::vector<ScenarioLine> quick;   // [study.quick]: keys for a short run
};

struct ScenarioFile {
  scenario::Scenario scenario;
  StudyWords study;
};

// Lists the keys of [study]; KeysOf lists the others.
[[nodiscard]] std::vector<scenario::KeyText> StudyKeys();

[[nodiscard]] Result<ScenarioText> ParseScenario(std::string_view text, const std::string& name);
// Applies the file's own lines, without those of included files.
[[nodiscard]] Status ApplyLines(const ScenarioText& file, ScenarioFile& all);
enum class Length : std::uint8_t { kWhole, kQuick };
// The defaults, changed by the file at `path` and the files that it includes; kQuick: and by [study.quick].
[[nodiscard]] Result<ScenarioFile> ReadScenario(const std::string& path, Length length = Length::kWhole);

}  // namespace leeway::app
