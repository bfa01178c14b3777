#include <memory>

#include "bench/latency.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchLatencyCommand final : public Command {
 public:
  std::string name() const override { return "bench latency"; }
  std::string summary() const override {
    return "one small push with its verdict beside a bare socket's ping-pong";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench latency\n"
           "  leeway bench latency --transport tcp --json\n\n"
           "One push of 64 bytes is in flight; everything on one core, then worker and server on two. The "
           "bare "
           "socket is TCP for tcp and a Unix socket for the others. docs/performance.md says what the fields "
           "mean.\n";
  }

  void Declare(FlagSet& flags) override {
    DeclareTransportFlag(flags, options_.transport);
    flags.Number("--seconds", "N", options_.seconds, 1, 60, "for all turns together");
    flags.Number("--repeats", "N", options_.repeats, 1, 50, "turns of each kind");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::LatencyReport report, bench::RunLatency(options_));
    PrintReport(report, json_);
    return 0;
  }

 private:
  bench::LatencyOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchLatencyCommand() { return std::make_unique<BenchLatencyCommand>(); }

}  // namespace leeway::app
