#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/cluster/train.h"
#include "bench/figures.h"
#include "bench/json_line.h"

namespace leeway::bench {
namespace {

// One number of every turn of a row. Empty: no turn ended.
std::vector<double> EachTurn(const TrainRowReport& row, double RowTurn::*number) {
  std::vector<double> numbers;
  for (const RowTurn& turn : row.turns) numbers.push_back(turn.*number);
  return numbers;
}

double MedianOf(const TrainRowReport& row, double RowTurn::*number) {
  const std::vector<double> numbers = EachTurn(row, number);
  return numbers.empty() ? NAN : Median(numbers);
}

// Over one machine alone, whose row comes first.
double SpeedupOf(const TrainReport& report, const TrainRowReport& row) {
  return MedianOf(row, &RowTurn::steps_s) / MedianOf(report.rows.front(), &RowTurn::steps_s);
}

std::string NetText(const TrainOptions& options) {
  if (!options.net) return "loopback without a limit";
  std::string text = PrintLinkRate(*options.net) + " cards";
  if (options.scale > 1) {
    text += fmt::format(", sizes and rates divided by {}: cards of {}", options.scale,
                        PrintLinkRate(*EmulatedRate(options)));
  }
  return text;
}

std::string Percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f}%", share * 100) : "-"; }

// The table fits 80 columns: a long name has a line of its own, above its figures.
std::string NameCell(const std::string& name) {
  constexpr std::size_t kColumns = 11;
  return name.size() <= kColumns ? fmt::format("{:<{}}", name, kColumns)
                                 : fmt::format("{}\n{:<{}}", name, "", kColumns);
}

std::string FirstValuesText(const TrainRowReport& row) {
  if (row.row.pass == TrainPass::kAlone) return "-";
  return fmt::format("{:.1f}", MedianOf(row, &RowTurn::first_values_s) * 1e3);
}

std::string RowLine(const TrainReport& report, const TrainRowReport& row) {
  if (row.turns.empty()) return NameCell(row.row.text) + "  no run ended\n";
  const double gbit_s = MedianOf(row, &RowTurn::gbit_s);
  return fmt::format("{}{:>8.3f}{:>6.0f}%{:>8.2f}{:>8.2f}{:>9}{:>9}{:>9}{:>7}{:>5}\n", NameCell(row.row.text),
                     MedianOf(row, &RowTurn::steps_s), Spread(EachTurn(row, &RowTurn::steps_s)) * 100,
                     SpeedupOf(report, row), row.ceiling, Percent(MedianOf(row, &RowTurn::computing)),
                     Percent(MedianOf(row, &RowTurn::waiting)), FirstValuesText(row),
                     std::isfinite(gbit_s) && gbit_s > 0 ? fmt::format("{:.2f}", gbit_s) : "-",
                     Percent(MedianOf(row, &RowTurn::idle)));
}

}  // namespace

std::string ToText(const TrainReport& report) {
  const TrainOptions& options = report.options;
  std::string text = fmt::format(
      "{}: {:.2f} million parameters, {:.1f} ms of compute a step; {} machines{}, {}\n"
      "{} counted steps after {}, {}\n",
      TrainModelName(options.model), static_cast<double>(report.parameters) * 1e-6, options.step_s * 1e3,
      options.machines, options.apart ? " and as many for servers" : "", NetText(options), options.steps,
      options.warm_up, options.repeats == 1 ? "1 run" : fmt::format("medians of {} runs", options.repeats));
  if (!report.has_multiply_adds)
    text += "the layers say no multiply-adds: they take their time by elements\n";
  if (report.probe) {
    text +=
        fmt::format("bare sockets carry {:.3f} Gbit/s each way on each card, at {:.0f} % idle processor\n",
                    report.probe->gbit_s, report.probe->idle * 100);
  }
  text += fmt::format("\n{}{:>8}{:>7}{:>8}{:>8}{:>9}{:>9}{:>9}{:>7}{:>5}\n", NameCell("row"), "steps/s",
                      "spread", "speedup", "ceiling", "compute", "waiting", "first ms", "Gbit/s", "idle");
  for (const TrainRowReport& row : report.rows) text += RowLine(report, row);
  text +=
      "\nspeedup: steps/s of all workers over one machine alone; ceiling: the most that the rates of the "
      "cards allow; compute, waiting: shares of a worker's time; first ms: from the end of a backward "
      "pass to the values of the first layer; Gbit/s: of the busiest card; idle: of this host\n";
  if (report.stopped) text += "stopped before all runs were done\n";
  return text + TextOf(report.busy);
}

std::string ToJson(const TrainReport& report) {
  const TrainOptions& options = report.options;
  std::vector<std::string> rows;
  for (const TrainRowReport& row : report.rows) {
    JsonLine line;
    line.Text("row", row.row.text)
        .Whole("machines", row.row.job.workers)
        .Whole("servers", row.row.pass == TrainPass::kAlone ? 0 : row.row.job.servers)
        .Whole("runs", row.turns.size());
    if (!row.turns.empty()) {
      line.All(JsonOf("steps_s", Summary(EachTurn(row, &RowTurn::steps_s))))
          .Real("speedup", SpeedupOf(report, row))
          .Real("ceiling", row.ceiling)
          .Real("computing", MedianOf(row, &RowTurn::computing))
          .Real("waiting", MedianOf(row, &RowTurn::waiting))
          .Real("overlap", MedianOf(row, &RowTurn::overlap))
          .Real("first_values_s", MedianOf(row, &RowTurn::first_values_s), 6)
          .Real("gbit_s", MedianOf(row, &RowTurn::gbit_s))
          .Real("idle", MedianOf(row, &RowTurn::idle))
          .Real("exchanges_a_step", MedianOf(row, &RowTurn::exchanges))
          .Real("bytes_a_step", MedianOf(row, &RowTurn::bytes_a_step), 9)
          .Reals("server_bytes", row.server_bytes, 12)
          .Reals("steps_s_runs", EachTurn(row, &RowTurn::steps_s))
          .Reals("computing_runs", EachTurn(row, &RowTurn::computing))
          .Reals("waiting_runs", EachTurn(row, &RowTurn::waiting))
          .Reals("overlap_runs", EachTurn(row, &RowTurn::overlap))
          .Reals("gbit_s_runs", EachTurn(row, &RowTurn::gbit_s))
          .Reals("idle_runs", EachTurn(row, &RowTurn::idle));
    }
    rows.push_back(line.Done());
  }
  JsonLine line;
  line.Text("bench", "train")
      .Text("model", TrainModelName(options.model))
      .Whole("parameters", report.parameters)
      .Real("step_s", options.step_s, 6)
      .Real("forward_share", options.forward_share)
      .Whole("machines", options.machines)
      .Raw("apart", options.apart ? "true" : "false")
      .Raw("net_bit_s", options.net ? std::to_string(options.net->bits_s) : "null")
      .Whole("scale", options.scale)
      .Whole("warm_up", options.warm_up)
      .Whole("steps", options.steps)
      .Whole("repeats", options.repeats);
  if (report.probe) {
    line.Real("probe_gbit_s", report.probe->gbit_s).Real("probe_idle", report.probe->idle);
  }
  return line.Raw("stopped", report.stopped ? "true" : "false")
      .Each("rows", rows)
      .All(JsonOf(report.busy))
      .Done();
}

std::string StepLines(const TrainReport& report) {
  std::string text;
  for (const TrainRowReport& row : report.rows) {
    for (std::size_t turn = 0; turn < row.turns.size(); ++turn) {
      for (const TrainStep& step : row.turns[turn].counted) {
        text += JsonLine()
                    .Text("row", row.row.text)
                    .Whole("run", turn)
                    .Whole("rank", step.rank)
                    .Whole("step", step.step)
                    .Real("seconds", step.seconds, 9)
                    .Real("waited_s", step.waited_s, 9)
                    .Real("first_values_s", step.first_values_s, 9)
                    .Real("compute_s", report.options.step_s, 9)
                    .Done();
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace leeway::bench
