#include "bench/pushpull.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {

std::unique_ptr<Command> NewBenchPushPullCommand() {
  return NewBench<bench::PushPullOptions, bench::PushPullReport>({
      .name = "bench pushpull",
      .summary = "measure push and pull beside a bare socket and beside the limit, in the same run",
      .lesson = "Examples:\n"
                "  leeway bench pushpull --block-bytes 1MiB\n"
                "  leeway bench pushpull --transport tcp --block-bytes 64 --in-flight 64 --json\n"
                "  leeway bench pushpull --workers 4 --servers 2\n\n"
                "A pair is a push with its verdict and a pull with its answer. The limit is one thread that "
                "adds the same bytes and copies them. docs/performance.md says what the fields mean.\n",
      .declare =
          [](FlagSet& flags, bench::PushPullOptions& options) {
            DeclareShape(flags, options);
            flags.Number("-w,--workers", "N", options.workers, 1, 64,
                         "worker processes, on the same two cores");
            flags.Number("-s,--servers", "N", options.servers, 1, 64,
                         "server processes, on the same two cores");
            flags.Number("--seconds", "N", options.seconds, 1, 60, "for all turns together");
            flags.Number("--repeats", "N", options.repeats, 1, 50, "turns of each kind");
          },
      .run = bench::RunPushPull,
  });
}

}  // namespace leeway::app
