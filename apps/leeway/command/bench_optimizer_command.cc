#include <fmt/format.h>

#include <memory>

#include "bench/optimizer.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchOptimizerCommand final : public Command {
 public:
  std::string name() const override { return "bench optimizer"; }
  std::string summary() const override {
    return "measure the cost of each optimizer's step on a server, beside a plain loop";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench optimizer\n"
           "  leeway bench optimizer --repeats 15 --json\n"
           "  leeway bench optimizer --bytes 1MiB   # arrays that stay in the cache\n\n"
           "Takes 10 times --bytes of memory. docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Bytes("--bytes", options_.bytes, 4, 1ULL << 30, "size of an array");
    flags.Number("--repeats", "N", options_.repeats, 1, 100, "turns of each optimizer and of its plain loop");
    flags.Switch("--check", check_, "exit with 1 if an optimizer is below its floor beside the plain loop");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::OptimizerReport report, bench::RunOptimizers(options_));
    PrintReport(report, json_);
    const std::string too_little = check_ ? bench::TooLittle(report) : "";
    fmt::print(stderr, "{}", too_little);
    return too_little.empty() ? 0 : 1;
  }

 private:
  bench::OptimizerOptions options_;
  bool check_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchOptimizerCommand() { return std::make_unique<BenchOptimizerCommand>(); }

}  // namespace leeway::app
