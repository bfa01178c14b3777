#include <memory>

#include "bench/pushpull.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchPushPullCommand final : public Command {
 public:
  std::string name() const override { return "bench pushpull"; }
  std::string summary() const override {
    return "speed of push and pull beside a bare socket and beside the limit, in the same run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench pushpull --block-bytes 1MiB\n"
           "  leeway bench pushpull --transport tcp --block-bytes 64 --in-flight 64 --json\n"
           "  leeway bench pushpull --workers 4 --servers 2\n\n"
           "A pair is a push with its verdict and a pull with its answer. The limit is one thread that adds "
           "the "
           "same bytes and copies them. docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    DeclareShape(flags, options_);
    flags.Number("-w,--workers", "N", options_.workers, 1, 64, "worker processes, on the same two cores");
    flags.Number("-s,--servers", "N", options_.servers, 1, 64, "server processes, on the same two cores");
    flags.Number("--seconds", "N", options_.seconds, 1, 60, "for all turns together");
    flags.Number("--repeats", "N", options_.repeats, 1, 50, "turns of each kind");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::PushPullOptions complete, bench::Complete(options_));
    LW_ASSIGN_OR_RETURN(const bench::PushPullReport report, bench::RunPushPull(complete));
    PrintReport(report, json_);
    return 0;
  }

 private:
  bench::PushPullOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchPushPullCommand() { return std::make_unique<BenchPushPullCommand>(); }

}  // namespace leeway::app
