#include <fmt/format.h>

#include <memory>

#include "bench/pushpull.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

class BenchPushPullCommand final : public Command {
 public:
  std::string name() const override { return "bench pushpull"; }
  std::string summary() const override {
    return "speed of push and pull beside a bare socket, in the same run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench pushpull --block-bytes 1MiB\n"
           "  leeway bench pushpull --block-bytes 64 --blocks 4096 --json\n\n"
           "A pair is a push with its verdict and a pull with its answer. docs/performance.md says what the "
           "fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Text("--transport", "NAME", options_.transport, "tcp");
    flags.Bytes("--block-bytes", options_.block_bytes, 4, 64U << 20, "size of a block");
    flags.Number("--blocks", "N", options_.blocks, 0, 1U << 20,
                 "blocks; 0: a working set of 64 MiB, at most 4096 blocks");
    flags.Number("--in-flight", "N", options_.in_flight, 0, 65'536,
                 "pairs under way at once; 0: 8 MiB of them, 4 to 64");
    flags.Number("--seconds", "N", options_.seconds, 1, 12, "for all turns together");
    flags.Number("--repeats", "N", options_.repeats, 1, 50, "turns of each kind");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const bench::PushPullOptions complete, bench::Complete(options_));
    LW_ASSIGN_OR_RETURN(const bench::PushPullReport report, bench::RunPushPull(complete));
    const std::string text = json_ ? bench::ToJson(report) : bench::ToText(report);
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
    return 0;
  }

 private:
  bench::PushPullOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchPushPullCommand() { return std::make_unique<BenchPushPullCommand>(); }

}  // namespace leeway::app
