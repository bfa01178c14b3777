#include "bench/sim.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {

std::unique_ptr<Command> NewBenchSimCommand() {
  return NewBench<bench::SimOptions, bench::SimReport>({
      .name = "bench sim",
      .summary = "measure how many messages a second the simulated cluster delivers, up to 1,024 workers",
      .lesson = "Examples:\n"
                "  leeway bench sim\n"
                "  leeway bench sim --json\n\n"
                "An event is one delivered message; the nodes are the real ones. events_s is of 16 workers, "
                "growth the time per event of the slowest row over the fastest: medians over the turns. "
                "docs/simulator.md says more.\n",
      .declare =
          [](FlagSet& flags, bench::SimOptions& options) {
            flags.Number("--steps", "N", options.steps, 4096, 1U << 24,
                         "iterations of all workers of a row together");
            flags.Number("--repeats", "N", options.repeats, 1, 100, "turns of each row");
            flags.Text("--model", "NAME", options.model,
                       "the model of the problem ghost whose sizes are used");
          },
      .run = bench::RunSim,
  });
}

}  // namespace leeway::app
