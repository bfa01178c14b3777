#include <memory>

#include "base/errors.h"
#include "bench/memory.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchMemoryCommand final : public Command {
 public:
  std::string name() const override { return "bench memory"; }
  std::string summary() const override {
    return "measure how fast a large model reaches its workers, and whether a job grows";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench memory\n"
           "  leeway bench memory --part first --model-bytes 256MiB --json\n"
           "  leeway bench memory --part flat --iterations 1000000\n\n"
           "first: all blocks of a model are initialized by rank 0 and pulled by all workers, beside copying "
           "it "
           "once per worker. flat: memory and descriptors of all processes over the iterations of a small "
           "model; "
           "exits with 1 when they grow. docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    DeclareTransportFlag(flags, first_.transport);
    flags.Text("--part", "NAME", part_, "first, flat, or both", [](const std::string& name) -> Status {
      if (name == "first" || name == "flat" || name == "both") return Status::Ok();
      return InvalidArgument("got \"{}\", wanted first, flat or both", name);
    });
    flags.Bytes("--model-bytes", first_.model_bytes, 64, 8ULL << 30, "size of the model");
    flags.Number("-w,--workers", "N", first_.workers, 1, 64, "workers that get the model");
    flags.Number("-s,--servers", "N", first_.servers, 1, 64, "servers that hold the model");
    flags.Number("--repeats", "N", first_.repeats, 1, 50, "turns with the model, and as many of copying");
    flags.Number("--iterations", "N", flat_.iterations, 100, 100'000'000, "iterations of the small model");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    bench::MemoryOptions options;
    flat_.transport = first_.transport;
    if (part_ != "flat") options.first = first_;
    if (part_ != "first") options.flat = flat_;
    LW_ASSIGN_OR_RETURN(const bench::MemoryReport report, bench::RunMemory(options));
    PrintReport(report, json_);
    const std::string too_much = bench::TooMuch(report);
    fmt::print(stderr, "{}", too_much);
    return too_much.empty() ? 0 : 1;
  }

 private:
  std::string part_ = "both";
  bench::FirstIterationOptions first_;
  bench::FlatnessOptions flat_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchMemoryCommand() { return std::make_unique<BenchMemoryCommand>(); }

}  // namespace leeway::app
