#include <memory>

#include "bench/scale.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchScaleCommand final : public Command {
 public:
  std::string name() const override { return "bench scale"; }
  std::string summary() const override {
    return "2 + 2 and 8 + 2 workers and servers against 1 + 1, on the same cores";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench scale\n"
           "  leeway bench scale --transport tcp --block-bytes 64KiB --json\n\n"
           "The pairs of all workers together, in turns in one run. What a push costs with up to 1,024 "
           "workers is "
           "`leeway bench sync`. docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    DeclareShape(flags, options_);
    flags.Number("--seconds", "N", options_.seconds, 1, 60, "for all turns together");
    flags.Number("--repeats", "N", options_.repeats, 1, 50, "turns of each size");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::ScaleReport report, bench::RunScale(options_));
    PrintReport(report, json_);
    return 0;
  }

 private:
  bench::PushPullOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchScaleCommand() { return std::make_unique<BenchScaleCommand>(); }

}  // namespace leeway::app
