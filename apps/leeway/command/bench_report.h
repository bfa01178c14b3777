// Shared parts of the commands of `leeway bench`: flags that several have, the printing of a report, and
// BenchCommand, a bench that is no more than its flags and its report.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "bench/pushpull.h"
#include "cli/command.h"
#include "cli/flag_set.h"
#include "role/job_flags.h"
#include "terminal/wrap_text.h"

namespace leeway::app {

// Flags for the shape of pushes and pulls, and for the transport.
inline void DeclareShape(FlagSet& flags, bench::PushPullOptions& options) {
  DeclareTransportFlag(flags, options.transport);
  flags.Bytes("--block-bytes", options.block_bytes, 4, 64U << 20, "size of a block");
  flags.Number("--blocks", "N", options.blocks, 0, 1U << 20,
               "blocks; 0: a working set of 64 MiB, at most 1024 blocks");
  flags.Number("--in-flight", "N", options.in_flight, 0, 65'536,
               "pairs of a worker under way at once; 0: 8 MiB of them, 4 to 64");
}

// As one line of JSON, or for people.
template <typename Report>
void PrintReport(const Report& report, bool json) {
  const std::string text = json ? ToJson(report) : WrappedLines(ToText(report));
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

template <typename Options, typename Report>
struct Bench {
  std::string name, summary, lesson;  // of Command
  void (*declare)(FlagSet& flags, Options& options);
  Result<Report> (*run)(const Options& options);
  // Lines about figures that miss their limit; a miss makes the exit code 1. Null: the bench has no limit.
  std::string (*misses)(const Options& options, const Report& report) = nullptr;
};

template <typename Options, typename Report>
class BenchCommand final : public Command {
 public:
  explicit BenchCommand(Bench<Options, Report> bench) : bench_(std::move(bench)) {}
  std::string name() const override { return bench_.name; }
  std::string summary() const override { return bench_.summary; }
  std::string lesson() const override { return bench_.lesson; }
  void Declare(FlagSet& flags) override {
    bench_.declare(flags, options_);
    flags.Switch("--json", json_, "one JSON object on one line");
  }
  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const Report report, bench_.run(options_));
    PrintReport(report, json_);
    const std::string misses = bench_.misses == nullptr ? "" : bench_.misses(options_, report);
    fmt::print(stderr, "{}", misses);
    return misses.empty() ? 0 : 1;
  }

 private:
  const Bench<Options, Report> bench_;
  Options options_;
  bool json_ = false;
};

template <typename Options, typename Report>
std::unique_ptr<Command> NewBench(Bench<Options, Report> bench) {
  return std::make_unique<BenchCommand<Options, Report>>(std::move(bench));
}

}  // namespace leeway::app
