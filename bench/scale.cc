#include "scale.h"

#include "base/errors.h"
#include "leeway_job.h"

namespace leeway::bench {
namespace {

Status MeasureScale(ScaleReport& report) {
  const PushPullOptions& options = report.options;
  const Shape shape = ShapeOf(options);
  std::vector<std::unique_ptr<LeewayJob>> jobs;
  std::vector<Side> sides;
  for (const ScaleSize& size : kScaleSizes) {
    LW_ASSIGN_OR_RETURN(auto job, LeewayJob::Start({.transport = options.transport,
                                                    .shape = shape,
                                                    .workers = size.workers,
                                                    .servers = size.servers}));
    sides.push_back({fmt::format("{} + {}", size.workers, size.servers),
                     [job = job.get()](double seconds) { return job->Run(seconds); }});
    jobs.push_back(std::move(job));
  }
  LW_RETURN_IF_ERROR(
      TakeTurns(sides, {.seconds = options.seconds / (static_cast<double>(sides.size()) * options.repeats),
                        .repeats = options.repeats}));
  for (const auto& job : jobs) LW_RETURN_IF_ERROR(job->CheckAndEnd());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    report.rows.push_back({.size = kScaleSizes[i],
                           .figures = Summarize(sides[i], shape.block_bytes),
                           .ratio = Summary(Ratios(sides[i].Rates(), sides[0].Rates()))});
  }
  return Status::Ok();
}

}  // namespace

Result<ScaleReport> RunScale(const PushPullOptions& wanted) {
  ScaleReport report;
  LW_ASSIGN_OR_RETURN(report.options, Complete(wanted));
  const BusyMeter meter;
  LW_RETURN_IF_ERROR(MeasureScale(report));
  report.busy = meter.End();
  return report;
}

std::string ToJson(const ScaleReport& report) {
  std::vector<std::string> rows;
  for (const ScaleRow& row : report.rows) {
    rows.push_back(JsonLine()
                       .Whole("workers", row.size.workers)
                       .Whole("servers", row.size.servers)
                       .Real("gb_s_each_way", row.figures.gb_s_each_way)
                       .Real("pairs_s", row.figures.pairs_s, 6)
                       .Real("spread", row.figures.spread, 3)
                       .Real("cpu_s_per_gb_moved", row.figures.cpu_s_per_gb_moved())
                       .Real("p50_us", row.figures.p50_us, 5)
                       .Real("p99_us", row.figures.p99_us, 5)
                       .All(JsonOf("ratio", row.ratio))
                       .Done());
  }
  return JsonLine()
      .Text("bench", "scale")
      .Text("transport", report.options.transport)
      .Whole("block_bytes", report.options.block_bytes)
      .Whole("blocks", report.options.blocks)
      .Whole("in_flight", report.options.in_flight)
      .Whole("repeats", report.options.repeats)
      .Whole("seconds", report.options.seconds)
      .Each("sizes", rows)
      .All(JsonOf(report.busy))
      .Done();
}

std::string ToText(const ScaleReport& report) {
  std::string text = fmt::format(
      "{} blocks of {} bytes over {}, {} pairs of each worker in flight, all on the same two cores, {} "
      "turn{} each\n\n{:<18}{:>14}{:>9}{:>10}{:>8}{:>21}\n",
      report.options.blocks, report.options.block_bytes, report.options.transport, report.options.in_flight,
      report.options.repeats, report.options.repeats == 1 ? "" : "s", "workers + servers", "GB/s each way",
      "pairs/s", "cpu s/GB", "spread", "of 1 + 1");
  for (const ScaleRow& row : report.rows) {
    text += fmt::format(
        "{:<18}{:>14.3f}{:>9.0f}{:>10.3f}{:>7.0f}%{:>21}\n",
        fmt::format("{} + {}", row.size.workers, row.size.servers), row.figures.gb_s_each_way,
        row.figures.pairs_s, row.figures.cpu_s_per_gb_moved(), row.figures.spread * 100,
        fmt::format("{:.2f} ({:.2f} to {:.2f})", row.ratio.median, row.ratio.low, row.ratio.high));
  }
  text += "\nwhat a push costs with up to 1,024 workers: leeway bench sync\n";
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
