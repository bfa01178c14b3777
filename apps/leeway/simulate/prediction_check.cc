#include "simulate/prediction_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "bench/figures.h"
#include "bench/json_line.h"
#include "scenario/figures.h"
#include "simulate/simulate.h"
#include "terminal/table_text.h"

namespace leeway::app {
namespace {

constexpr std::uint32_t kSeeds = 3;

}  // namespace

double PredictedCase::error() const { return bench::Median(predicted_s) / bench::Median(measured_s) - 1; }

std::vector<PredictedCase> UsualCases() {
  return {
      {.name = "bsp", .flags = {"--sync", "bsp"}, .sets = {}},
      {.name = "ssp:3, worker 3 four times slower",
       .flags = {"--sync", "ssp:3", "--slow-worker", "3:4x"},
       .sets = {"policies.sync=ssp:3", "compute.slowed=3:4"}},
      {.name = "bsp, partial pull",
       .flags = {"--sync", "bsp", "--pull", "partial:0.5,1"},
       .sets = {"policies.pull=partial:0.5,1"}},
  };
}

Result<double> Predict(const std::string& path, const std::vector<std::string>& sets) {
  SimulateOptions options;
  options.from_run = path;
  options.sets = sets;
  options.seeds = kSeeds;
  LW_ASSIGN_OR_RETURN(const Finished done, RunPrediction(options));
  for (const scenario::RunRecord& record : done.study.cells[0].records) {
    if (!record.errors.empty()) return Internal("the simulation did not end well: {}", record.errors[0]);
  }
  return SpreadOf(scenario::FigureNamed("seconds"), done.study.cells[0].records).mean;
}

std::string ToJson(const std::vector<PredictedCase>& cases) {
  std::vector<std::string> rows;
  double worst = 0;
  for (const PredictedCase& each : cases) {
    worst = std::max(worst, std::abs(each.error()));
    rows.push_back(bench::JsonLine()
                       .Text("case", each.name)
                       .Real("predicted_s", bench::Median(each.predicted_s))
                       .Real("measured_s", bench::Median(each.measured_s))
                       .Real("error", each.error())
                       .Reals("predicted_runs_s", each.predicted_s)
                       .Reals("measured_runs_s", each.measured_s)
                       .Reals("others_cores", each.others_cores)
                       .Done());
  }
  return bench::JsonLine().Text("bench", "predict").Real("error_max", worst).Each("cases", rows).Done();
}

std::string ToText(const std::vector<PredictedCase>& cases) {
  TableText table({"medians of all runs", "predicted s", "measured s", "error", "cores of others"});
  for (const PredictedCase& each : cases) {
    table.Row({each.name, fmt::format("{:.2f}", bench::Median(each.predicted_s)),
               fmt::format("{:.2f}", bench::Median(each.measured_s)),
               fmt::format("{:+.1f} %", 100 * each.error()),
               fmt::format("{:.2f}", bench::Median(each.others_cores))});
  }
  return table.Print();
}

}  // namespace leeway::app
