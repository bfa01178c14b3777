// Papers: runs the scenario files of papers' figures, one after the other, and writes what they gave.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/status.h"

namespace leeway::app {

struct PapersOptions {
  std::string scenarios = "scenarios/papers";
  std::string paper, figure;  // empty: all
  bool quick = false;
  std::uint64_t seed = 1;
  std::uint32_t seeds = 0;  // 0: as many as each file says
  std::uint32_t threads = 1;
  std::string out;   // folder of report.html; empty: none
  std::string docs;  // folder of Markdown and pictures; empty: none
};

// Prints what there is.
[[nodiscard]] Result<int> ListPapers(const PapersOptions& options);
// The exit code: 1 if a run did not end well. A figure whose data is not there is left out, and said to be.
[[nodiscard]] Result<int> RunPapers(const PapersOptions& options);

}  // namespace leeway::app
