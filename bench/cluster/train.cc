#include "bench/cluster/train.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/errors.h"
#include "bench/cluster/ceiling.h"
#include "bench/cluster/placed_bytes.h"
#include "bench/figures.h"
#include "problem/cut_tables.h"
#include "problem/layer_file.h"

namespace leeway::bench {
namespace {

constexpr std::chrono::milliseconds kProbeTime{700};
// A run also starts processes and sends the first values.
constexpr double kTurnStartSeconds = 1.5;

std::uint64_t ElementsOf(const std::vector<problem::Table>& tables) {
  std::uint64_t all = 0;
  for (const problem::Table& table : tables) all += table.elements();
  return all;
}

CeilingPlan CeilingOf(const TrainOptions& options, const TrainRowReport& row, double exchanges) {
  return {
      .load = {.workers = row.row.job.workers, .server_bytes = row.server_bytes, .together = !options.apart},
      .step_s = options.step_s,
      .overlaps = row.row.pass == TrainPass::kWaitFree,
      .exchanges_a_step = exchanges,
      .rate = row.row.pass == TrainPass::kAlone ? std::nullopt : EmulatedRate(options)};
}

std::string LastedText(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// Runs all rows in turns, and estimates the time left.
class TrainTurns {
 public:
  TrainTurns(const TrainOptions& options, std::span<const problem::Table> tables,
             const EmulatedNetwork* network, TrainReport& report)
      : options_(options), tables_(tables), network_(network), report_(report) {}

  Status Run() {
    for (std::uint32_t repeat = 0; repeat < options_.repeats; ++repeat) {
      for (std::size_t i = 0; i < report_.rows.size(); ++i) {
        // Every other repeat takes the rows from the last to the first: a machine that drifts favours none.
        const std::size_t at = repeat % 2 == 0 ? i : report_.rows.size() - 1 - i;
        LW_RETURN_IF_ERROR(RunOne(report_.rows[at]));
      }
    }
    return Status::Ok();
  }

 private:
  Status RunOne(TrainRowReport& row) {
    const std::size_t all = options_.repeats * report_.rows.size();
    if (options_.progress) {
      options_.progress(
          fmt::format("run {} of {}, {} left: {}", done_ + 1, all, LastedText(SecondsLeft()), row.row.text));
    }
    const std::vector<problem::Table> tables = problem::CutTables(tables_, row.row.cut);
    const RowTurnPlan plan{.row = row.row,
                           .tables = tables,
                           .shares = problem::ComputeSharesOf(tables, options_.forward_share),
                           .step_s = options_.step_s,
                           .warm_up = options_.warm_up,
                           .steps = options_.steps,
                           .network = network_,
                           .servers_from = options_.apart ? options_.machines : 0,
                           .trace = IsTraced(row) ? options_.trace : TraceOptions()};
    Result<RowTurn> turn = RunRowTurn(plan, options_.stop);
    if (!turn.ok()) return turn.status().WithContext(fmt::format("row \"{}\"", row.row.text));
    ++done_;
    if (options_.ended) {
      options_.ended(fmt::format("run {} of {}: {}: {:.2f} steps/s, {:.0f} % idle processor, {:.1f} s", done_,
                                 all, row.row.text, turn->steps_s, turn->idle * 100, turn->seconds));
    }
    row.turns.push_back(*std::move(turn));
    return Status::Ok();
  }

  // The first run of the last row.
  [[nodiscard]] bool IsTraced(const TrainRowReport& row) const {
    return &row == &report_.rows.back() && row.turns.empty();
  }

  // By the last run of each row, or by what its card allows.
  [[nodiscard]] double SecondsLeft() const {
    double left = 0;
    for (const TrainRowReport& row : report_.rows) {
      const double one = row.turns.empty()
                             ? kTurnStartSeconds + (options_.warm_up + options_.steps) *
                                                       LeastStepSeconds(CeilingOf(options_, row, 1))
                             : row.turns.back().seconds;
      left += one * static_cast<double>(options_.repeats - row.turns.size());
    }
    return left;
  }

  const TrainOptions& options_;
  const std::span<const problem::Table> tables_;
  const EmulatedNetwork* const network_;
  TrainReport& report_;
  std::size_t done_ = 0;
};

Status MeasureTrain(TrainReport& report, std::span<const problem::Table> tables) {
  const TrainOptions& options = report.options;
  std::unique_ptr<EmulatedNetwork> network;
  if (options.net) {
    LW_ASSIGN_OR_RETURN(network, EmulatedNetwork::Make(CardsOf(options), EmulatedRate(options)));
    if (options.probes && CardsOf(options) > 1) {
      LW_ASSIGN_OR_RETURN(report.probe, ProbeNetwork(*network, CardsOf(options), kProbeTime));
      LW_RETURN_IF_ERROR(CheckCarried(*report.probe, *options.net, options.scale));
    }
  }
  const Status ran = TrainTurns(options, tables, network.get(), report).Run();
  report.stopped = ran.code() == StatusCode::kCancelled;
  return report.stopped ? Status::Ok() : ran;
}

}  // namespace

std::string TrainModelName(const std::string& model) {
  if (model.ends_with(".layers")) return model;
  std::string name = model;
  std::ranges::replace(name, '_', '-');
  // The DenseNet of 2.22 million parameters, which the thesis trains.
  return name == "densenet" ? "densenet40" : name;
}

Result<std::vector<problem::Table>> ReadTrainModel(const std::string& model, std::uint32_t scale) {
  LW_ASSIGN_OR_RETURN(std::vector<problem::Table> tables, problem::ReadModel(TrainModelName(model)));
  for (problem::Table& table : tables) {
    const auto elements = static_cast<std::int64_t>(table.elements());
    table.shape = {(elements + scale - 1) / scale};
  }
  return tables;
}

std::uint32_t CardsOf(const TrainOptions& options) {
  return options.apart ? 2 * options.machines : options.machines;
}

std::optional<LinkRate> EmulatedRate(const TrainOptions& options) {
  if (!options.net) return std::nullopt;
  return LinkRate{options.net->bits_s / options.scale};
}

Result<TrainReport> RunTrain(const TrainOptions& options) {
  TrainReport report{.options = options};
  LW_ASSIGN_OR_RETURN(const std::vector<problem::Table> whole, ReadTrainModel(options.model, 1));
  LW_ASSIGN_OR_RETURN(const std::vector<problem::Table> tables, ReadTrainModel(options.model, options.scale));
  report.parameters = ElementsOf(whole);
  report.has_multiply_adds =
      std::ranges::any_of(tables, [](const problem::Table& table) { return table.multiply_adds > 0; });
  for (const TrainRow& row : options.rows) {
    Result<std::vector<double>> bytes = PlacedBytes(row.job, problem::CutTables(tables, row.cut));
    if (!bytes.ok()) return bytes.status().WithContext(fmt::format("row \"{}\"", row.text));
    report.rows.push_back({.row = row, .turns = {}, .server_bytes = *std::move(bytes)});
  }
  const BusyMeter meter;
  LW_RETURN_IF_ERROR(MeasureTrain(report, tables));
  report.busy = meter.End();
  for (TrainRowReport& row : report.rows) {
    std::vector<double> exchanges;
    for (const RowTurn& turn : row.turns) exchanges.push_back(turn.exchanges);
    if (!exchanges.empty()) row.ceiling = SpeedupCeiling(CeilingOf(options, row, Median(exchanges)));
  }
  return report;
}

}  // namespace leeway::bench
