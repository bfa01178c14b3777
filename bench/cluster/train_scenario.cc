#include "bench/cluster/train_scenario.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "scenario/keys.h"

namespace leeway::bench {
namespace {

// A simulation of more elements takes long and is no more exact.
constexpr double kSimulatedElementsMax = 1 << 20;
// Of a veth and a bridge; a switch and a cable have about as much.
constexpr double kBridgeLatency = 50e-6;

// The keys that differ between rows, which change together, and their values for one row.
constexpr const char* kCellKeys =
    "policies.overlap+compute.forward_share+compute.backward_share+cluster.workers+cluster.servers+policies."
    "sync+policies.apply+policies.pull+policies.exchange+policies.placement+policies.pull_at+policies."
    "priorities";
constexpr const char* kProblemKey = "+training.problem";

std::string CellOf(const TrainRow& row, double forward_share) {
  const bool overlaps = row.pass == TrainPass::kWaitFree;
  return fmt::format("{}+{}+{}+{}+{}+{}+{}+{}+{}+{}+{}+{}", overlaps, overlaps ? forward_share : 0,
                     overlaps ? 1 - forward_share : 0, row.job.workers, row.job.servers, row.job.sync,
                     row.job.apply, row.job.pull, row.job.exchange, row.job.placement, row.job.pull_at,
                     row.job.priorities);
}

}  // namespace

Result<std::string> TrainScenario(const TrainOptions& options) {
  if (!options.net)
    return InvalidArgument("--write-scenario: got --net none, wanted a rate: a simulated card has one");
  LW_ASSIGN_OR_RETURN(const std::vector<problem::Table> tables, ReadTrainModel(options.model, 1));
  double elements = 0;
  for (const problem::Table& table : tables) elements += static_cast<double>(table.shape[0]);
  const std::string model = TrainModelName(options.model);
  const auto grain = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(elements / kSimulatedElementsMax));
  std::vector<std::string> cells, labels;
  std::vector<std::uint32_t> cuts;
  for (const TrainRow& row : options.rows) {
    if (row.pass == TrainPass::kAlone) continue;
    cells.push_back(CellOf(row, options.forward_share));
    labels.push_back(fmt::format("\"{}\"", row.text));
    cuts.push_back(row.cut);
  }
  if (cells.empty())
    return InvalidArgument("--write-scenario: got the row \"alone\" only, wanted one with a job");
  const auto problem_of = [&](std::uint32_t cut) {
    return fmt::format("ghost:model={},grain={}{}", model, grain, cut > 1 ? fmt::format(",cut={}", cut) : "");
  };
  const bool cut_alike = std::ranges::count(cuts, cuts[0]) == std::ssize(cuts);
  for (std::size_t i = 0; i < cells.size() && !cut_alike; ++i) cells[i] += "+" + problem_of(cuts[i]);
  scenario::Scenario scenario;
  scenario.name = fmt::format("{} on {} machines", model, options.machines);
  scenario.iterations = options.warm_up + options.steps;
  scenario.job.workers = scenario.job.servers = options.machines;
  scenario.job.block_bytes = options.rows[0].job.block_bytes;
  scenario.together = !options.apart;
  scenario.compute.base_s = options.step_s;
  scenario.links.latency_s = kBridgeLatency;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = options.net->bytes_s();
  scenario.problem = problem_of(cuts[0]);
  return fmt::format(
      "# Written by leeway bench train, for leeway sim: the same cluster, one cell for each row.\n"
      "# Steps per second of all workers are workers x iterations / seconds.\n"
      "{}\n[study]\ntitle = \"{}\"\nsweeps = [\"{}{}={}{}\"]\nlabels = [{}]\nfigures = [\"seconds\", "
      "\"gigabytes\", "
      "\"imbalance\"]\n",
      scenario::ToToml(scenario), scenario.name, kCellKeys, cut_alike ? "" : kProblemKey,
      fmt::join(cells, ";"),
      cells.size() == 1 ? ";" : "",  // or the commas of the only cell would part it
      fmt::join(labels, ", "));
}

}  // namespace leeway::bench
