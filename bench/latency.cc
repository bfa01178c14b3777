#include "latency.h"

#include <vector>

#include "base/errors.h"
#include "leeway_job.h"
#include "range.h"
#include "raw_job.h"
#include "transport/stream/carrier.h"

namespace leeway::bench {
namespace {

constexpr std::size_t kPushBytes = 64;
constexpr std::size_t kTables = 16;

Status MeasureLatency(LatencyReport& report) {
  const LatencyOptions& options = report.options;
  const Shape shape{kPushBytes, kTables, 1};
  std::vector<std::unique_ptr<LeewayJob>> jobs;
  std::vector<std::unique_ptr<RawJob>> raws;
  std::vector<Side> sides;
  for (const CorePlan cores : {CorePlan::kOne, CorePlan::kTwo}) {
    LW_ASSIGN_OR_RETURN(auto raw, RawJob::Start(RawKindFor(options.transport), shape, cores));
    LW_ASSIGN_OR_RETURN(
        auto job,
        LeewayJob::Start({.transport = options.transport, .shape = shape, .pulls = false, .cores = cores}));
    sides.push_back({"leeway", [job = job.get()](double seconds) { return job->Run(seconds); }});
    sides.push_back({"bare socket", [raw = raw.get()](double seconds) { return raw->Run(seconds); }});
    jobs.push_back(std::move(job));
    raws.push_back(std::move(raw));
  }
  LW_RETURN_IF_ERROR(
      TakeTurns(sides, {.seconds = options.seconds / (static_cast<double>(sides.size()) * options.repeats),
                        .repeats = options.repeats}));
  for (const auto& job : jobs) LW_RETURN_IF_ERROR(job->CheckAndEnd());
  report.one_core = CompareLatency(sides[0], sides[1]);
  report.two_cores = CompareLatency(sides[2], sides[3]);
  return Status::Ok();
}

JsonLine JsonOf(const LatencyRow& row) {
  return JsonLine()
      .Real("p50_us", row.p50_us.median)
      .Real("p99_us", row.p99_us.median)
      .Real("p50_spread", row.p50_us.spread, 3)
      .Real("p99_spread", row.p99_us.spread, 3)
      .Real("raw_p50_us", row.raw_p50_us.median)
      .Real("raw_p99_us", row.raw_p99_us.median)
      .Real("p50_ratio", row.p50_ratio.median)
      .Real("p50_ratio_spread", row.p50_ratio.spread, 3)
      .Real("p99_ratio", row.p99_ratio.median)
      .Real("p99_ratio_spread", row.p99_ratio.spread, 3);
}

const char* RawName(const std::string& transport) {
  return RawKindFor(transport) == RawKind::kTcp ? "tcp" : "unix";
}

}  // namespace

RawKind RawKindFor(const std::string& transport) {
  return transport == "tcp" ? RawKind::kTcp : RawKind::kUnix;
}

LatencyRow CompareLatency(const Side& leeway, const Side& raw) {
  const auto at = [](const Side& side, double share) {
    return side.Each([share](const Turn& turn) { return turn.latency.QuantileUs(share); });
  };
  const std::vector<double> p50 = at(leeway, 0.5), p99 = at(leeway, 0.99);
  const std::vector<double> raw_p50 = at(raw, 0.5), raw_p99 = at(raw, 0.99);
  return {.p50_us = Summary(p50),
          .p99_us = Summary(p99),
          .raw_p50_us = Summary(raw_p50),
          .raw_p99_us = Summary(raw_p99),
          .p50_ratio = Summary(Ratios(p50, raw_p50)),
          .p99_ratio = Summary(Ratios(p99, raw_p99))};
}

Status Check(const LatencyOptions& options) {
  LW_RETURN_IF_ERROR(ParseCarrier(options.transport).status());
  LW_RETURN_IF_ERROR(CheckRange("seconds", options.seconds, 1, 60));
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 50));
  return Status::Ok();
}

Result<LatencyReport> RunLatency(const LatencyOptions& options) {
  LW_RETURN_IF_ERROR(Check(options));
  LatencyReport report{.options = options, .one_core = {}, .two_cores = {}, .busy = {}};
  const BusyMeter meter;
  LW_RETURN_IF_ERROR(MeasureLatency(report));
  report.busy = meter.End();
  return report;
}

std::string ToJson(const LatencyReport& report) {
  return JsonLine()
      .Text("bench", "latency")
      .Text("transport", report.options.transport)
      .Text("raw_socket", RawName(report.options.transport))
      .Whole("bytes", kPushBytes)
      .Whole("repeats", report.options.repeats)
      .Whole("seconds", report.options.seconds)
      .Raw("one_core", JsonOf(report.one_core).Done())
      .Raw("two_cores", JsonOf(report.two_cores).Done())
      .All(JsonOf(report.busy))
      .Done();
}

std::string ToText(const LatencyReport& report) {
  std::string text = fmt::format(
      "one push of {} bytes with its verdict over {}, beside a ping-pong of {} bytes over a bare {} socket, "
      "{} turn{} each\n\n{:<12}{:>12}{:>12}{:>8}{:>12}{:>12}{:>8}\n",
      kPushBytes, report.options.transport, kPushBytes, RawName(report.options.transport),
      report.options.repeats, report.options.repeats == 1 ? "" : "s", "", "p50 us", "bare", "ratio", "p99 us",
      "bare", "ratio");
  const auto row = [&](const char* name, const LatencyRow& of) {
    text += fmt::format("{:<12}{:>12.1f}{:>12.1f}{:>8.2f}{:>12.1f}{:>12.1f}{:>8.2f}\n", name,
                        of.p50_us.median, of.raw_p50_us.median, of.p50_ratio.median, of.p99_us.median,
                        of.raw_p99_us.median, of.p99_ratio.median);
  };
  row("one core", report.one_core);
  row("two cores", report.two_cores);
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
