#include <memory>

#include "bench/sim.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchSimCommand final : public Command {
 public:
  std::string name() const override { return "bench sim"; }
  std::string summary() const override {
    return "how many messages a second the simulated cluster delivers, up to 1,024 workers";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench sim\n"
           "  leeway bench sim --json\n\n"
           "An event is one delivered message; the nodes are the real ones. events_s is of 16 workers, "
           "growth the time per event of the slowest row over the fastest: medians over the turns. "
           "docs/simulator.md says more.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Number("--steps", "N", options_.steps, 4096, 1U << 24,
                 "iterations of all workers of a row together");
    flags.Number("--repeats", "N", options_.repeats, 1, 100, "turns of each row");
    flags.Text("--model", "NAME", options_.model, "whose sizes: a model of the problem ghost");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::SimReport report, bench::RunSim(options_));
    PrintReport(report, json_);
    return 0;
  }

 private:
  bench::SimOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchSimCommand() { return std::make_unique<BenchSimCommand>(); }

}  // namespace leeway::app
