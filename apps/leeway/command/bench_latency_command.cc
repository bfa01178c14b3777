#include "bench/latency.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {

std::unique_ptr<Command> NewBenchLatencyCommand() {
  return NewBench<bench::LatencyOptions, bench::LatencyReport>({
      .name = "bench latency",
      .summary = "measure one small push with its verdict beside a bare socket's ping-pong",
      .lesson = "Examples:\n"
                "  leeway bench latency\n"
                "  leeway bench latency --transport tcp --json\n\n"
                "One push of 64 bytes is in flight; everything on one core, then worker and server on two. "
                "The bare socket is TCP for tcp and a Unix socket for the others. docs/performance.md says "
                "what the fields mean.\n",
      .declare =
          [](FlagSet& flags, bench::LatencyOptions& options) {
            DeclareTransportFlag(flags, options.transport);
            flags.Number("--seconds", "N", options.seconds, 1, 60, "for all turns together");
            flags.Number("--repeats", "N", options.repeats, 1, 50, "turns of each kind");
          },
      .run = bench::RunLatency,
  });
}

}  // namespace leeway::app
