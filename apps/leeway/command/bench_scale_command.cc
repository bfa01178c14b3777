#include "bench/scale.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {

std::unique_ptr<Command> NewBenchScaleCommand() {
  return NewBench<bench::PushPullOptions, bench::ScaleReport>({
      .name = "bench scale",
      .summary = "compare 2 + 2 and 8 + 2 workers and servers with 1 + 1, on the same cores",
      .lesson = "Examples:\n"
                "  leeway bench scale\n"
                "  leeway bench scale --transport tcp --block-bytes 64KiB --json\n\n"
                "The pairs of all workers together, in turns in one run. `leeway bench sync` "
                "measures the cost of a push with up to 1,024 workers. docs/performance.md says what the "
                "fields mean.\n",
      .declare =
          [](FlagSet& flags, bench::PushPullOptions& options) {
            DeclareShape(flags, options);
            flags.Number("--seconds", "N", options.seconds, 1, 60, "for all turns together");
            flags.Number("--repeats", "N", options.repeats, 1, 50, "turns of each size");
          },
      .run = bench::RunScale,
  });
}

}  // namespace leeway::app
