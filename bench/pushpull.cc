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
  std::vector<float> latencies_us;
};

// One turn: pairs for `seconds` on the clock, and the processor time of both ends.
Status Turn(Turns& turns, pid_t server, double block_bytes,
            const std::function<Result<std::uint64_t>()>& run) {
  const double cpu_before = ProcessorSeconds(getpid()) + ProcessorSeconds(server);
  const auto start = std::chrono::steady_clock::now();
  LW_ASSIGN_OR_RETURN(const std::uint64_t pairs, run());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double cpu = ProcessorSeconds(getpid()) + ProcessorSeconds(server) - cpu_before;
  if (pairs == 0) return DeadlineExceeded("no pair was done in {} s", took.count());
  turns.pairs_s.push_back(static_cast<double>(pairs) / took.count());
  turns.cpu_s_per_gb.push_back(cpu / (static_cast<double>(pairs) * block_bytes * 1e-9));
  return Status::Ok();
}

void Summarize(Turns& leeway, Turns& raw, PushPullReport& report) {
  const double gb = static_cast<double>(report.options.block_bytes) * 1e-9;
  report.pairs_s = Median(leeway.pairs_s);
  report.raw_pairs_s = Median(raw.pairs_s);
  report.gb_s_each_way = report.pairs_s * gb;
  report.raw_gb_s_each_way = report.raw_pairs_s * gb;
  report.spread = Spread(leeway.pairs_s);
  report.raw_spread = Spread(raw.pairs_s);
  report.cpu_s_per_gb = Median(leeway.cpu_s_per_gb);
  report.raw_cpu_s_per_gb = Median(raw.cpu_s_per_gb);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < leeway.pairs_s.size(); ++i)
    ratios.push_back(leeway.pairs_s[i] / raw.pairs_s[i]);
  report.ratio = Median(ratios);
  report.ratio_min = *std::min_element(ratios.begin(), ratios.end());
  report.ratio_max = *std::max_element(ratios.begin(), ratios.end());
  report.p50_us = Quantile(leeway.latencies_us, 0.5);
  report.p99_us = Quantile(leeway.latencies_us, 0.99);
  report.raw_p50_us = Quantile(raw.latencies_us, 0.5);
  report.raw_p99_us = Quantile(raw.latencies_us, 0.99);
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
  Summarize(leeway, raw, report);
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
  return fmt::format(
      R"({{"bench":"pushpull","transport":"{}","block_bytes":{},"blocks":{},"in_flight":{},"repeats":{},"seconds":{},)"
      R"("gb_s_each_way":{:.4g},"pairs_s":{:.6g},"raw_gb_s_each_way":{:.4g},"raw_pairs_s":{:.6g},)"
      R"("ratio":{:.4g},"ratio_min":{:.4g},"ratio_max":{:.4g},"spread":{:.3g},"raw_spread":{:.3g},)"
      R"("cpu_s_per_gb":{:.4g},"raw_cpu_s_per_gb":{:.4g},"p50_us":{:.5g},"p99_us":{:.5g},"raw_p50_us":{:.5g},"raw_p99_us":{:.5g},)"
      R"("idle_cpu_percent":{:.3g},"busy":{:.3g},"cores":{}}})",
      options.transport, options.block_bytes, options.blocks, options.in_flight, options.repeats,
      options.seconds, report.gb_s_each_way, report.pairs_s, report.raw_gb_s_each_way, report.raw_pairs_s,
      report.ratio, report.ratio_min, report.ratio_max, report.spread, report.raw_spread, report.cpu_s_per_gb,
      report.raw_cpu_s_per_gb, report.p50_us, report.p99_us, report.raw_p50_us, report.raw_p99_us,
      report.idle_cpu_percent, report.busy, report.cores);
}

std::string ToText(const PushPullReport& report) {
  const PushPullOptions& options = report.options;
  std::string text =
      fmt::format("{} blocks of {} bytes over {}, {} pairs in flight, {} turns each\n\n", options.blocks,
                  options.block_bytes, options.transport, options.in_flight, options.repeats);
  text += fmt::format("{:<13}{:>14}{:>12}{:>11}{:>11}{:>12}{:>9}\n", "", "GB/s each way", "pairs/s", "p50 us",
                      "p99 us", "cpu s/GB", "spread");
  const auto row = [&](const char* name, double gb_s, double pairs_s, double p50, double p99, double cpu,
                       double spread) {
    text += fmt::format("{:<13}{:>14.3f}{:>12.0f}{:>11.1f}{:>11.1f}{:>12.3f}{:>8.0f}%\n", name, gb_s, pairs_s,
                        p50, p99, cpu, spread * 100);
  };
  row("leeway", report.gb_s_each_way, report.pairs_s, report.p50_us, report.p99_us, report.cpu_s_per_gb,
      report.spread);
  row("bare socket", report.raw_gb_s_each_way, report.raw_pairs_s, report.raw_p50_us, report.raw_p99_us,
      report.raw_cpu_s_per_gb, report.raw_spread);
  text += fmt::format("\nratio {:.2f} ({:.2f} to {:.2f}); an idle worker uses {:.2f} % of a core\n",
                      report.ratio, report.ratio_min, report.ratio_max, report.idle_cpu_percent);
  if (report.busy > 0.1) {
    text += fmt::format(
        "others used {:.0f} % of this machine just before the run: the figures are not those of a quiet "
        "one\n",
        report.busy * 100);
  }
  if (report.cores < 2) text += "one core only: worker and server share it\n";
  return text;
}

}  // namespace leeway::bench
