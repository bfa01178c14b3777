// The sync bench: what a block's decisions cost, for every synchronization model and for few and many
// workers.
//
// Blocks of one value are fed by hand: half of the workers push and pull up to four iterations, then the
// other half, so that pulls are delayed, tossed for, released and answered at once; once more with asp and
// every worker in an iteration of its own. No network, no thread. Turns of all models and sizes alternate in
// one run, and the figures are medians over turns of medians over rounds, so that a round in which the
// machine did something else does not show.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "busy.h"
#include "leeway/status.h"
#include "sync/sync_policy.h"

namespace leeway::bench {

inline constexpr std::array<std::uint32_t, 3> kSyncWorkers = {4, 64, 1024};
// Limits: the cost with the most workers against the fewest, and of a formula against C++.
inline constexpr double kSyncRatioMax = 1.3, kFormulaExtraNsMax = 1000;

struct SyncOptions {
  std::uint32_t repeats = 5;    // turns of each case, at most 50
  std::uint32_t pairs = 32768;  // pushes, absents and pulls of a turn, each; at least 2048
};

// Nanoseconds of one kind of event, by the number of workers as in kSyncWorkers.
struct SyncCost {
  std::array<double, kSyncWorkers.size()> ns{};
  double ratio = 0;   // the most workers against the fewest, turn by turn: the median
  double spread = 0;  // (max - min) / median of ns over the turns, the largest of the sizes
};

struct SyncRow {
  std::string model, spec;  // the spec as it is for the fewest workers; "asp spread": each has an iteration
  SyncCost push{}, absent{}, pull{};
};

// The extra cost of a formula over the same condition in C++, in nanoseconds: medians over turns.
struct FormulaCost {
  std::string spec, against;
  double push_extra_ns = 0, pull_extra_ns = 0;
};

struct SyncReport {
  SyncOptions options;
  std::vector<SyncRow> rows;
  std::vector<std::string> left_out;   // as in SyncSpecs
  double ratio_max = 0;                // of all rows and kinds
  std::optional<FormulaCost> formula;  // nothing if this build has no formulas
  Busy busy;
};

// One line for each figure beyond its limit; empty: none is.
[[nodiscard]] std::string TooMuch(const SyncReport& report);

// The specs with which models are measured.
struct SyncSpecs {
  struct Measured {
    std::string model, spec;
  };
  std::vector<Measured> measured;
  // "mine: why": models that want arguments for which bench/sync.cc has no values.
  std::vector<std::string> left_out;
};
// One spec for each model of the registry, or the reason why the bench leaves it out. A model that
// bench/sync.cc does not know is measured without arguments if it needs none.
[[nodiscard]] SyncSpecs SyncBenchSpecs(const Registry<SyncModel>& models, std::uint32_t workers);
[[nodiscard]] Result<SyncReport> RunSync(const SyncOptions& options);
[[nodiscard]] std::string ToJson(const SyncReport& report);
[[nodiscard]] std::string ToText(const SyncReport& report);

}  // namespace leeway::bench
