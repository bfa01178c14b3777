#include "pushpull.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/errors.h"
#include "leeway_job.h"
#include "limit.h"
#include "range.h"
#include "raw_job.h"
#include "transport/stream/carrier.h"

namespace leeway::bench {
namespace {

constexpr std::uint64_t kWorkingSetBytes = 64ULL << 20;
constexpr std::uint64_t kInFlightBytes = 8ULL << 20;
constexpr std::uint32_t kBlocksMax = 1024;  // by default, more tensors than most models have: each is a table
constexpr std::uint32_t kBlockBytesMax = 64U << 20;
constexpr std::uint64_t kMemoryBytesMax = 1ULL << 30;
constexpr std::chrono::milliseconds kIdleTime{1000};

enum : std::size_t { kLeeway, kRaw, kLimit };

std::vector<double> CpuPerGb(const Side& side, std::size_t block_bytes, double Turn::*part) {
  return side.Each(
      [&](const Turn& turn) { return turn.*part / (turn.count * static_cast<double>(block_bytes) * 1e-9); });
}

Status Measure(PushPullReport& report) {
  const PushPullOptions& options = report.options;
  const Shape shape = ShapeOf(options);
  LW_ASSIGN_OR_RETURN(const auto raw, RawJob::Start(RawKind::kTcp, shape, CorePlan::kTwo));
  LW_ASSIGN_OR_RETURN(const auto limit, LimitJob::Start(shape, CorePlan::kTwo));
  LW_ASSIGN_OR_RETURN(const auto leeway, LeewayJob::Start({.transport = options.transport,
                                                           .shape = shape,
                                                           .workers = options.workers,
                                                           .servers = options.servers}));
  std::vector<Side> sides(3);
  sides[kLeeway] = {"leeway", [&](double seconds) { return leeway->Run(seconds); }};
  sides[kRaw] = {"bare socket", [&](double seconds) { return raw->Run(seconds); }};
  sides[kLimit] = {"limit", [&](double seconds) { return limit->Run(seconds); }};
  LW_RETURN_IF_ERROR(
      TakeTurns(sides, {.seconds = options.seconds / (static_cast<double>(sides.size()) * options.repeats),
                        .repeats = options.repeats}));
  report.idle_cpu_percent = leeway->IdleCpuPercent(kIdleTime);
  LW_RETURN_IF_ERROR(leeway->CheckAndEnd());
  report.leeway = Summarize(sides[kLeeway], shape.block_bytes);
  report.raw = Summarize(sides[kRaw], shape.block_bytes);
  report.limit = Summarize(sides[kLimit], shape.block_bytes);
  const std::vector<double> rates = sides[kLeeway].Rates();
  report.ratio = Summary(Ratios(rates, sides[kRaw].Rates()));
  report.limit_ratio = Summary(Ratios(rates, sides[kLimit].Rates()));
  report.cpu_ratio = Summary(Ratios(CpuPerGb(sides[kLeeway], shape.block_bytes, &Turn::cpu_s),
                                    CpuPerGb(sides[kRaw], shape.block_bytes, &Turn::cpu_s)));
  return Status::Ok();
}

JsonLine JsonOf(const char* prefix, const PushPullFigures& of) {
  const auto key = [prefix](const char* name) { return std::string(prefix) + name; };
  return JsonLine()
      .Real(key("gb_s_each_way"), of.gb_s_each_way)
      .Real(key("pairs_s"), of.pairs_s, 6)
      .Real(key("spread"), of.spread, 3)
      .Real(key("cpu_s_per_gb"), of.cpu_s_per_gb)
      .Real(key("cpu_s_per_gb_moved"), of.cpu_s_per_gb_moved())
      .Real(key("server_cpu_s_per_gb"), of.server_cpu_s_per_gb)
      .Real(key("p50_us"), of.p50_us, 5)
      .Real(key("p99_us"), of.p99_us, 5);
}

}  // namespace

PushPullFigures Summarize(const Side& side, std::size_t block_bytes) {
  const Figure pairs_s = Summary(side.Rates());
  LatencyHistogram latency;
  for (const Turn& turn : side.turns) latency.Add(turn.latency);
  return {.gb_s_each_way = pairs_s.median * static_cast<double>(block_bytes) * 1e-9,
          .pairs_s = pairs_s.median,
          .spread = pairs_s.spread,
          .cpu_s_per_gb = Median(CpuPerGb(side, block_bytes, &Turn::cpu_s)),
          .server_cpu_s_per_gb = Median(CpuPerGb(side, block_bytes, &Turn::server_cpu_s)),
          .p50_us = latency.QuantileUs(0.5),
          .p99_us = latency.QuantileUs(0.99)};
}

Shape ShapeOf(const PushPullOptions& complete) {
  return {complete.block_bytes, complete.blocks, complete.in_flight};
}

Result<PushPullOptions> Complete(PushPullOptions options) {
  LW_RETURN_IF_ERROR(ParseCarrier(options.transport).status());
  if (options.block_bytes < 4 || options.block_bytes % 4 != 0 || options.block_bytes > kBlockBytesMax) {
    return InvalidArgument("block bytes: got {}, wanted a multiple of 4 up to {}", options.block_bytes,
                           kBlockBytesMax);
  }
  if (options.blocks == 0) {
    options.blocks = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kWorkingSetBytes / options.block_bytes, 1, kBlocksMax));
  }
  if (static_cast<std::uint64_t>(options.blocks) * options.block_bytes > kMemoryBytesMax) {
    return InvalidArgument("{} blocks of {} bytes: got a working set above {} bytes", options.blocks,
                           options.block_bytes, kMemoryBytesMax);
  }
  if (options.in_flight == 0) {
    options.in_flight =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kInFlightBytes / options.block_bytes, 4, 64));
    options.in_flight = std::min(options.in_flight, options.blocks);
  }
  if (options.in_flight > options.blocks) {
    return InvalidArgument("in flight: got {} with {} blocks, wanted at most one pair per block",
                           options.in_flight, options.blocks);
  }
  LW_RETURN_IF_ERROR(CheckRange("workers", options.workers, 1, 64));
  LW_RETURN_IF_ERROR(CheckRange("servers", options.servers, 1, 64));
  LW_RETURN_IF_ERROR(CheckRange("seconds", options.seconds, 1, 60));
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 50));
  return options;
}

Result<PushPullReport> RunPushPull(const PushPullOptions& wanted) {
  PushPullReport report;
  LW_ASSIGN_OR_RETURN(report.options, Complete(wanted));
  const BusyMeter meter;
  LW_RETURN_IF_ERROR(Measure(report));
  report.busy = meter.End();
  return report;
}

std::string ToJson(const PushPullReport& report) {
  const PushPullOptions& options = report.options;
  return JsonLine()
      .Text("bench", "pushpull")
      .Text("transport", options.transport)
      .Whole("block_bytes", options.block_bytes)
      .Whole("blocks", options.blocks)
      .Whole("in_flight", options.in_flight)
      .Whole("workers", options.workers)
      .Whole("servers", options.servers)
      .Whole("repeats", options.repeats)
      .Whole("seconds", options.seconds)
      .All(JsonOf("", report.leeway))
      .Text("raw_socket", "tcp")
      .All(JsonOf("raw_", report.raw))
      .Real("limit_gb_s", report.limit.gb_s_each_way)
      .Real("limit_spread", report.limit.spread, 3)
      .Real("limit_cpu_s_per_gb", report.limit.cpu_s_per_gb)
      .All(JsonOf("ratio", report.ratio))
      .All(JsonOf("limit_ratio", report.limit_ratio))
      .Real("cpu_ratio", report.cpu_ratio.median)
      .Real("cpu_ratio_spread", report.cpu_ratio.spread, 3)
      .Real("idle_cpu_percent", report.idle_cpu_percent, 3)
      .All(JsonOf(report.busy))
      .Done();
}

std::string ToText(const PushPullReport& report) {
  const PushPullOptions& options = report.options;
  std::string text = fmt::format(
      "{} blocks of {} bytes over {}, {} pairs in flight, {} worker{} and {} server{}, {} turn{} each\n\n",
      options.blocks, options.block_bytes, options.transport, options.in_flight, options.workers,
      options.workers == 1 ? "" : "s", options.servers, options.servers == 1 ? "" : "s", options.repeats,
      options.repeats == 1 ? "" : "s");
  text += fmt::format("{:<16}{:>14}{:>9}{:>8}{:>9}{:>9}{:>7}{:>8}\n", "", "GB/s each way", "pairs/s",
                      "p50 us", "p99 us", "cpu s/GB", "server", "spread");
  const auto row = [&](const char* name, const PushPullFigures& of) {
    text += fmt::format("{:<16}{:>14.3f}{:>9.0f}{:>8.1f}{:>9.1f}{:>9.3f}{:>7.3f}{:>7.0f}%\n", name,
                        of.gb_s_each_way, of.pairs_s, of.p50_us, of.p99_us, of.cpu_s_per_gb,
                        of.server_cpu_s_per_gb, of.spread * 100);
  };
  row("leeway", report.leeway);
  row("bare TCP socket", report.raw);
  text += fmt::format("{:<16}{:>14.3f}{:>9.0f}{:>8}{:>9}{:>9.3f}{:>7}{:>7.0f}%\n", "limit: add, copy",
                      report.limit.gb_s_each_way, report.limit.pairs_s, "", "", report.limit.cpu_s_per_gb, "",
                      report.limit.spread * 100);
  text += fmt::format(
      "\n{:.2f} of the bare socket ({:.2f} to {:.2f}), {:.2f} of the limit ({:.2f} to {:.2f}); {:.3f} cpu s "
      "per GB of pushes and pulls, {:.2f} of the bare socket's; an idle worker uses {:.2f} % of a core\n",
      report.ratio.median, report.ratio.low, report.ratio.high, report.limit_ratio.median,
      report.limit_ratio.low, report.limit_ratio.high, report.leeway.cpu_s_per_gb_moved(),
      report.cpu_ratio.median, report.idle_cpu_percent);
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
