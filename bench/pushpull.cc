#include "pushpull.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "child.h"
#include "cpu.h"
#include "figures.h"
#include "leeway_peer.h"
#include "raw_socket.h"

namespace leeway::bench {
namespace {

constexpr std::uint64_t kWorkingSetBytes = 64ULL << 20;
constexpr std::uint64_t kInFlightBytes = 8ULL << 20;
constexpr std::uint32_t kBlocksMax = 4096;  // by default: each is a table, with its buffers, name and ledger
constexpr std::uint32_t kBlockBytesMax = 64U << 20;
constexpr std::uint64_t kMemoryBytesMax = 1ULL << 30;
constexpr double kWarmSeconds = 0.25;
constexpr std::chrono::milliseconds kBusyTime{300};
constexpr std::chrono::milliseconds kIdleTime{1000};

// The worker's side runs on the first core, the server's on the second.
constexpr int kWorkerCore = 0;
constexpr int kServerCore = 1;

// What one of the two kinds gave over all its turns.
struct Turns {
  std::vector<double> pairs_s;
  std::vector<double> cpu_s_per_gb;
  std::vector<double> server_cpu_s_per_gb;
  std::vector<float> latencies_us;
};

// One turn: pairs for `seconds` on the clock, and the processor time of both ends.
Status Turn(Turns& turns, pid_t server, double block_bytes,
            const std::function<Result<std::uint64_t>()>& run) {
  const double worker_before = ProcessorSeconds(getpid());
  const double server_before = ProcessorSeconds(server);
  const auto start = std::chrono::steady_clock::now();
  LW_ASSIGN_OR_RETURN(const std::uint64_t pairs, run());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double worker_cpu = ProcessorSeconds(getpid()) - worker_before;
  const double server_cpu = ProcessorSeconds(server) - server_before;
  if (pairs == 0) return DeadlineExceeded("no pair was done in {} s", took.count());
  const double gb = static_cast<double>(pairs) * block_bytes * 1e-9;
  turns.pairs_s.push_back(static_cast<double>(pairs) / took.count());
  turns.cpu_s_per_gb.push_back((worker_cpu + server_cpu) / gb);
  turns.server_cpu_s_per_gb.push_back(server_cpu / gb);
  return Status::Ok();
}

PushPullFigures Summarize(Turns& turns, double block_bytes) {
  const double pairs_s = Median(turns.pairs_s);
  return {.gb_s_each_way = pairs_s * block_bytes * 1e-9,
          .pairs_s = pairs_s,
          .spread = Spread(turns.pairs_s),
          .cpu_s_per_gb = Median(turns.cpu_s_per_gb),
          .server_cpu_s_per_gb = Median(turns.server_cpu_s_per_gb),
          .p50_us = Quantile(turns.latencies_us, 0.5),
          .p99_us = Quantile(turns.latencies_us, 0.99)};
}

void Compare(const Turns& leeway, const Turns& raw, PushPullReport& report) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < leeway.pairs_s.size(); ++i)
    ratios.push_back(leeway.pairs_s[i] / raw.pairs_s[i]);
  report.ratio = Median(ratios);
  report.ratio_min = *std::min_element(ratios.begin(), ratios.end());
  report.ratio_max = *std::max_element(ratios.begin(), ratios.end());
}

Status Measure(const std::string& scheduler, pid_t server, RawClient& raw_client, pid_t raw_server,
               PushPullReport& report) {
  const PushPullOptions& options = report.options;
  const auto block_bytes = static_cast<double>(options.block_bytes);
  LW_ASSIGN_OR_RETURN(const auto client, LeewayClient::Join(scheduler, {options.block_bytes, options.blocks,
                                                                        options.in_flight}));
  Turns leeway, raw, warm;
  const auto leeway_turn = [&](Turns& turns, double seconds) {
    return Turn(turns, server, block_bytes, [&] { return client->Run(seconds, turns.latencies_us); });
  };
  const auto raw_turn = [&](Turns& turns, double seconds) {
    return Turn(turns, raw_server, block_bytes,
                [&]() -> Result<std::uint64_t> { return raw_client.Run(seconds, turns.latencies_us); });
  };
  LW_RETURN_IF_ERROR(raw_turn(warm, kWarmSeconds));
  LW_RETURN_IF_ERROR(leeway_turn(warm, kWarmSeconds));
  const double seconds = options.seconds / (2.0 * options.repeats);
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    // The order alternates, so that a machine that slows down or speeds up favours neither.
    if (i % 2 == 0) LW_RETURN_IF_ERROR(raw_turn(raw, seconds));
    LW_RETURN_IF_ERROR(leeway_turn(leeway, seconds));
    if (i % 2 == 1) LW_RETURN_IF_ERROR(raw_turn(raw, seconds));
  }
  const double idle_before = ProcessorSeconds(getpid());
  std::this_thread::sleep_for(kIdleTime);
  report.idle_cpu_percent =
      (ProcessorSeconds(getpid()) - idle_before) / std::chrono::duration<double>(kIdleTime).count() * 100;
  LW_RETURN_IF_ERROR(client->CheckAndLeave());
  report.leeway = Summarize(leeway, block_bytes);
  report.raw = Summarize(raw, block_bytes);
  Compare(leeway, raw, report);
  return Status::Ok();
}

}  // namespace

Result<PushPullOptions> Complete(PushPullOptions options) {
  if (options.transport != "tcp")
    return InvalidArgument("unknown transport \"{}\"; known: tcp", options.transport);
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
  if (options.seconds < 1 || options.seconds > 12)
    return InvalidArgument("seconds: got {}, wanted 1 to 12", options.seconds);
  if (options.repeats < 1 || options.repeats > 20)
    return InvalidArgument("repeats: got {}, wanted 1 to 20", options.repeats);
  return options;
}

Result<PushPullReport> RunPushPull(const PushPullOptions& wanted) {
  PushPullReport report;
  LW_ASSIGN_OR_RETURN(report.options, Complete(wanted));
  const PushPullOptions& options = report.options;
  report.cores = Cores();
  report.busy = BusyShare(kBusyTime);

  const RawShape raw_shape{options.block_bytes, options.blocks, options.in_flight};
  Child raw_server([&](const Child::Tell& tell) {
    PinToCore(kServerCore);
    const RawListener listener = RawListen();
    tell(std::to_string(listener.port));
    RawServe(listener, raw_shape);
    return 0;
  });
  Child server([&](const Child::Tell& tell) {
    PinToCore(kServerCore);
    return ServeLeeway({options.block_bytes, options.blocks, options.in_flight}, tell);
  });
  LW_ASSIGN_OR_RETURN(const std::string raw_port, raw_server.Hear());
  LW_ASSIGN_OR_RETURN(const std::string scheduler, server.Hear());
  // On a thread of its own, so that the caller's pinning stays as it is.
  Status status;
  std::thread([&] {
    PinToCore(kWorkerCore);
    RawClient raw_client(static_cast<std::uint16_t>(std::stoi(raw_port)), raw_shape);
    status = Measure(scheduler, server.pid(), raw_client, raw_server.pid(), report);
  }).join();
  if (!status.ok()) return status;
  return report;
}

std::string ToJson(const PushPullReport& report) {
  const PushPullOptions& options = report.options;
  const auto figures = [](const char* prefix, const PushPullFigures& of) {
    return fmt::format(
        R"("{0}gb_s_each_way":{1:.4g},"{0}pairs_s":{2:.6g},"{0}spread":{3:.3g},"{0}cpu_s_per_gb":{4:.4g},)"
        R"("{0}server_cpu_s_per_gb":{5:.4g},"{0}p50_us":{6:.5g},"{0}p99_us":{7:.5g})",
        prefix, of.gb_s_each_way, of.pairs_s, of.spread, of.cpu_s_per_gb, of.server_cpu_s_per_gb, of.p50_us,
        of.p99_us);
  };
  return fmt::format(
      R"({{"bench":"pushpull","transport":"{}","block_bytes":{},"blocks":{},"in_flight":{},"repeats":{},"seconds":{},)"
      R"({},{},"ratio":{:.4g},"ratio_min":{:.4g},"ratio_max":{:.4g},"idle_cpu_percent":{:.3g},"busy":{:.3g},"cores":{}}})",
      options.transport, options.block_bytes, options.blocks, options.in_flight, options.repeats,
      options.seconds, figures("", report.leeway), figures("raw_", report.raw), report.ratio,
      report.ratio_min, report.ratio_max, report.idle_cpu_percent, report.busy, report.cores);
}

std::string ToText(const PushPullReport& report) {
  const PushPullOptions& options = report.options;
  std::string text =
      fmt::format("{} blocks of {} bytes over {}, {} pairs in flight, {} turns each\n\n", options.blocks,
                  options.block_bytes, options.transport, options.in_flight, options.repeats);
  text += fmt::format("{:<12}{:>14}{:>11}{:>10}{:>10}{:>10}{:>10}{:>8}\n", "", "GB/s each way", "pairs/s",
                      "p50 us", "p99 us", "cpu s/GB", "of server", "spread");
  const auto row = [&](const char* name, const PushPullFigures& of) {
    text += fmt::format("{:<12}{:>14.3f}{:>11.0f}{:>10.1f}{:>10.1f}{:>10.3f}{:>10.3f}{:>7.0f}%\n", name,
                        of.gb_s_each_way, of.pairs_s, of.p50_us, of.p99_us, of.cpu_s_per_gb,
                        of.server_cpu_s_per_gb, of.spread * 100);
  };
  row("leeway", report.leeway);
  row("bare socket", report.raw);
  text += fmt::format("\nratio {:.2f} ({:.2f} to {:.2f}); an idle worker uses {:.2f} % of a core\n",
                      report.ratio, report.ratio_min, report.ratio_max, report.idle_cpu_percent);
  if (report.busy > 0.1) {
    text += fmt::format(
        "others used {:.0f} % of this machine just before the run: these are not the figures of a quiet "
        "one\n",
        report.busy * 100);
  }
  if (report.cores < 2) text += "one core only: worker and server share it\n";
  return text;
}

}  // namespace leeway::bench
