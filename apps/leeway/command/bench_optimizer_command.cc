#include "bench/optimizer.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

struct OptimizerFlags : bench::OptimizerOptions {
  bool check = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchOptimizerCommand() {
  return NewBench<OptimizerFlags, bench::OptimizerReport>({
      .name = "bench optimizer",
      .summary = "measure the cost of each optimizer's step on a server, beside a plain loop",
      .lesson = "Examples:\n"
                "  leeway bench optimizer\n"
                "  leeway bench optimizer --repeats 15 --json\n"
                "  leeway bench optimizer --bytes 1MiB   # arrays that stay in the cache\n\n"
                "Takes 10 times --bytes of memory. docs/performance.md says what the fields mean.\n",
      .declare =
          [](FlagSet& flags, OptimizerFlags& options) {
            flags.Bytes("--bytes", options.bytes, 4, 1ULL << 30, "size of an array");
            flags.Number("--repeats", "N", options.repeats, 1, 100,
                         "turns of each optimizer and of its plain loop");
            flags.Switch("--check", options.check,
                         "exit with 1 if an optimizer is below its floor beside the plain loop");
          },
      .run = [](const OptimizerFlags& options) { return bench::RunOptimizers(options); },
      .misses =
          [](const OptimizerFlags& options, const bench::OptimizerReport& report) {
            return options.check ? bench::TooLittle(report) : "";
          },
  });
}

}  // namespace leeway::app
