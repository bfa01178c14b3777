// The optimizer bench: one step of every server-side optimizer over large arrays, against a plain loop over
// the same arrays.
//
// The optimizer is the one that servers run, made from its spec. The plain loop (plain_optimizers.h) computes
// the same, is built for this processor alone and does not look for values that are not finite. Both read the
// same arrays and write the same others; their turns alternate on one pinned core, and what they write must
// agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "busy.h"
#include "leeway/status.h"

namespace leeway::bench {

struct OptimizerOptions {
  std::uint64_t bytes = 64ULL << 20;  // of one array; a multiple of 4
  std::uint32_t repeats = 9;          // turns of each, at most 100
};

struct OptimizerRow {
  std::string spec;
  double ns = 0, plain_ns = 0;  // per value: medians over the turns
  double ratio = 0;             // plain / own time, turn by turn: the median; above 1 the own is faster
  double spread = 0;            // (max - min) / median of the ratios
  double gb_s = 0;              // what was read and written, by the own
};

struct OptimizerReport {
  OptimizerOptions options;
  std::vector<OptimizerRow> rows;
  double ratio_min = 0;
  std::string target;  // the vector unit that the kernels ran on
  int core = 0;        // that the turns were pinned to; -1: there is but one
  Busy busy;
};

// One line for each figure below its floor (floors.h); empty: all reach it.
[[nodiscard]] std::string TooLittle(const OptimizerReport& report);
// An error names the features, as __builtin_cpu_supports does, that this processor lacks or that are not
// known here.
[[nodiscard]] Status CheckProcessor(std::span<const char* const> needs);
// An error if a row of the registry has no plain loop, the processor lacks what the plain loops were built
// for, or the two do not agree.
[[nodiscard]] Result<OptimizerReport> RunOptimizers(const OptimizerOptions& options);
[[nodiscard]] std::string ToJson(const OptimizerReport& report);
[[nodiscard]] std::string ToText(const OptimizerReport& report);

}  // namespace leeway::bench
