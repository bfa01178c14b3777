// The train bench: how fast an emulated cluster trains, one row for each way to train.
//
// Real processes of Leeway exchange the tensors of a real model over cards with a limit, and sleep where an
// accelerator would compute. docs/emulated-cluster.md lists its limits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/busy.h"
#include "bench/cluster/link_rate.h"
#include "bench/cluster/network_probe.h"
#include "bench/cluster/row_turn.h"
#include "bench/cluster/train_row.h"
#include "leeway/status.h"
#include "problem/problem.h"

namespace leeway::bench {

struct TrainOptions {
  std::string model = "resnet110";  // a layer list of docs/problems.md, or a file
  double step_s = 0.1;              // compute of one step on one machine
  double forward_share = problem::kForwardShare;
  std::uint32_t machines = 4;
  std::optional<LinkRate> net = LinkRate{1'000'000'000};  // of each card; nothing: loopback, no namespaces
  bool apart = false;                                     // servers on machines of their own
  std::uint32_t scale = 1;                                // sizes and rates are divided by this
  std::vector<TrainRow> rows;
  std::uint32_t warm_up = 6, steps = 20, repeats = 3;
  TraceOptions trace;  // of the first run of the last row; without a folder: none
  bool probes = true;  // measure what the network carries, and refuse it if that is too little
  // Asked now and then: true ends the bench with the rows that are done.
  std::function<bool()> stop;
  // `progress` gets a line for the run that begins, `ended` one for each run that ended.
  std::function<void(const std::string&line)> progress, ended;
};

// The tensors of a model, by a name of docs/problems.md, in which "_" is "-" and "densenet" is "densenet40",
// or of a file of layers. Each is a row of elements, divided by `scale`.
[[nodiscard]] Result<std::vector<problem::Table>> ReadTrainModel(const std::string& model,
                                                                 std::uint32_t scale);
[[nodiscard]] std::string TrainModelName(const std::string& model);

struct TrainRowReport {
  TrainRow row;
  std::vector<RowTurn> turns;
  std::vector<double> server_bytes;  // of the divided model
  double ceiling = 0;                // of the speedup
};

struct TrainReport {
  TrainOptions options;
  std::uint64_t parameters = 0;           // before they were divided
  bool has_multiply_adds = true;          // false: layers take their time by elements
  std::optional<ProbeReport> probe = {};  // nothing: not measured
  std::vector<TrainRowReport> rows = {};  // the first is one machine alone
  bool stopped = false;                   // before all turns were done
  Busy busy = {};
};

// Machines of the emulated network of such a bench.
[[nodiscard]] std::uint32_t CardsOf(const TrainOptions& options);
// The rate of a card as it is emulated.
[[nodiscard]] std::optional<LinkRate> EmulatedRate(const TrainOptions& options);

// REQUIRES: the process has no other threads.
[[nodiscard]] Result<TrainReport> RunTrain(const TrainOptions& options);

[[nodiscard]] std::string ToJson(const TrainReport& report);
[[nodiscard]] std::string ToText(const TrainReport& report);
// Every counted step as a JSON object on a line of its own.
[[nodiscard]] std::string StepLines(const TrainReport& report);

}  // namespace leeway::bench
