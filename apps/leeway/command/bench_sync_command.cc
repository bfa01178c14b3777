#include <fmt/format.h>

#include <memory>

#include "bench/sync.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchSyncCommand final : public Command {
 public:
  std::string name() const override { return "bench sync"; }
  std::string summary() const override {
    return "what a block's decisions cost, for every sync model and up to 1,024 workers";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench sync\n"
           "  leeway bench sync --repeats 9 --json\n\n"
           "Blocks of one value are fed pushes, absent pushes and pulls by hand. Exits with 1 when an event "
           "costs more than 1.3 times as much with 1,024 workers as with 4, or a formula more than 1 us. "
           "docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Number("--repeats", "N", options_.repeats, 1, 50, "turns of each model and number of workers");
    flags.Number("--pairs", "N", options_.pairs, 2048, 1U << 24, "events of a turn, of each kind");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::SyncReport report, bench::RunSync(options_));
    PrintReport(report, json_);
    const std::string too_much = bench::TooMuch(report);
    fmt::print(stderr, "{}", too_much);
    return too_much.empty() ? 0 : 1;
  }

 private:
  bench::SyncOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchSyncCommand() { return std::make_unique<BenchSyncCommand>(); }

}  // namespace leeway::app
