// LedgerPlan: the actions of each worker of a ledger run, drawn from the seed before anything runs. Pure
// functions of the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/table.h"
#include "sim/workloads/drawn_rules.h"
#include "sim/workloads/ledger.h"

namespace leeway::sim {

// Which ranks push a table, and when.
enum class TableUse : std::uint8_t {
  kAlways,     // everyone, in every iteration
  kSometimes,  // everyone, in some iterations
  kEvenRanks,  // a branch that only some ranks take
  kNever,      // an unused parameter
  kBursts,     // a clock of its own, a few pushes at a time
};

struct LedgerTable {
  TableUse use = TableUse::kAlways;
  TableSpec spec;
  bool aggregate = false;  // a read cannot hold anything of the reader's own iteration
  bool relay = false;      // a read is the mean of the iteration before, and nothing else
  std::optional<std::int64_t>
      stale_max;  // how many iterations of others a read may lack; nothing: any number
};

struct LedgerPlan {
  // Elements repeat in chunks of workers x slots cells; a push adds 1 to one cell of its worker in every
  // chunk, another slot from chunk to chunk and from iteration to iteration.
  static constexpr std::uint64_t kSlots = 3;

  LedgerOptions options;  // all filled in
  JobOptions job;
  std::vector<LedgerTable> tables;
  std::vector<std::uint32_t> iterations;  // by rank
  std::vector<DrawnSwitch> switches;
  bool skips = false;       // a model of the job may skip iterations, and blocks may be ahead of a reader
  bool drops_late = false;  // a model of the job may drop late pushes
  bool grouped = false;     // the tables are in two groups, as those of two optimizers are

  [[nodiscard]] std::uint64_t period() const { return options.workers * kSlots; }
  // The group whose iteration this is, on every rank; nullopt: all groups.
  [[nodiscard]] std::optional<std::uint32_t> GroupOf(std::int64_t iteration) const;
  // The lowest iteration from which on a reader in `iteration` may lack gradients: `stale_max` of the table's
  // own iterations lie between the two.
  [[nodiscard]] std::int64_t SureBefore(std::size_t table, std::int64_t iteration) const;
  // Returns whether the worker uses (reads and pushes) this job-clock table in this iteration.
  [[nodiscard]] bool Uses(std::size_t table, std::uint32_t rank, std::int64_t iteration) const;
  // The pushes of an own-clock table after this iteration: the same number on every rank. A rank that ended
  // its iterations far ahead on this table would wait for the others' pushes before it leaves, and they would
  // wait for its leaving.
  [[nodiscard]] std::uint32_t Burst(std::size_t table, std::int64_t iteration) const;
  // The NaN element of this push, if it has one.
  [[nodiscard]] std::optional<std::size_t> Spoiled(std::size_t table, std::uint32_t rank,
                                                   std::int64_t iteration) const;
  // The element that this push adds 1 to in chunk `chunk`.
  [[nodiscard]] std::size_t Cell(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                                 std::size_t chunk) const;
  [[nodiscard]] std::vector<float> Gradient(std::size_t table, std::uint32_t rank,
                                            std::int64_t iteration) const;
  [[nodiscard]] Duration ComputeTime(std::uint32_t rank, std::int64_t iteration) const;

  std::string replay;  // the command that repeats the run
};

[[nodiscard]] LedgerPlan MakeLedgerPlan(const LedgerOptions& options);

}  // namespace leeway::sim
