#include "bench/sync.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {

std::unique_ptr<Command> NewBenchSyncCommand() {
  return NewBench<bench::SyncOptions, bench::SyncReport>({
      .name = "bench sync",
      .summary = "measure the cost of a block's decisions, for every sync model and up to 1,024 workers",
      .lesson =
          "Examples:\n"
          "  leeway bench sync\n"
          "  leeway bench sync --repeats 9 --json\n\n"
          "Blocks of one value are fed pushes, absent pushes and pulls by hand. Exits with 1 when an event "
          "costs more than 1.3 times as much with 1,024 workers as with 4, or a formula more than 1 us. "
          "docs/performance.md says what the fields mean.\n",
      .declare =
          [](FlagSet& flags, bench::SyncOptions& options) {
            flags.Number("--repeats", "N", options.repeats, 1, 50,
                         "turns of each model and number of workers");
            flags.Number("--pairs", "N", options.pairs, 2048, 1U << 24, "events of a turn, of each kind");
          },
      .run = bench::RunSync,
      .misses = [](const bench::SyncOptions&,
                   const bench::SyncReport& report) { return bench::TooMuch(report); },
  });
}

}  // namespace leeway::app
