#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/errors.h"
#include "bench/busy.h"
#include "bench/capture.h"
#include "bench/parts.h"
#include "bench/scoreboard.h"
#include "command/commands.h"
#include "system/exec.h"
#include "system/text_file.h"
#include "terminal/error_output.h"

namespace leeway::app {
namespace {

class BenchAllCommand final : public Command {
 public:
  explicit BenchAllCommand(const Program& program) : program_(program) {}

  std::string name() const override { return "bench all"; }
  std::string summary() const override {
    return "run every bench: one table of figures, floors, and changes since an earlier run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench all --save before.json\n"
           "  leeway bench all --baseline before.json\n"
           "  leeway bench all --only pushpull.local --only latency\n\n"
           "About ten minutes; each part says on stderr that it runs. A figure is better or worse than the "
           "baseline's if it differs by more than the spread of both. Exits with 1 when a part did not run, "
           "and with --strict also when a figure misses its floor. docs/performance.md says what the figures "
           "mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Each(
        "--only", "PART",
        [this](const std::string& part) -> Status {
          const std::string one[] = {part};
          LW_RETURN_IF_ERROR(bench::ChooseParts(bench::AllParts(false), one).status());
          only_.push_back(part);
          return Status::Ok();
        },
        "this part only, or all that begin so: pushpull.tcp");
    flags.Switch("--quick", quick_, "each part as short as it can be, to see that it runs");
    flags.Text("--baseline", "FILE", baseline_, "compare with the run that --save wrote");
    flags.Text("--save", "FILE", save_, "write the run as JSON");
    flags.Switch("--strict", strict_, "exit with 1 when a figure misses its floor");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    std::optional<bench::Baseline> baseline;
    if (!baseline_.empty()) {
      LW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(baseline_));
      Result<bench::Baseline> read = bench::ReadBaseline(text);
      if (!read.ok()) return read.status().WithContext("the baseline " + baseline_);
      baseline = *std::move(read);
    }
    // Now, not after minutes of measuring.
    if (!save_.empty()) LW_RETURN_IF_ERROR(CheckTextFile(save_).WithContext("--save"));
    LW_ASSIGN_OR_RETURN(const std::vector<bench::Part> parts,
                        bench::ChooseParts(bench::AllParts(quick_), only_));
    const bench::BusyMeter meter;
    bench::ScoreRun run;
    run.chosen = !only_.empty();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      PrintError("[{:>2}/{}] {}\n", i + 1, parts.size(), parts[i].name);
      const Status ran = RunPart(parts[i], run);
      if (!ran.ok()) run.failures.emplace_back(parts[i].name, ran.message());
    }
    run.busy = meter.End().worst();
    const bench::Baseline* const before = baseline ? &*baseline : nullptr;
    const std::string json = bench::ToJson(run, before);
    if (!save_.empty()) LW_RETURN_IF_ERROR(WriteTextFile(save_, json + "\n").WithContext("--save"));
    fmt::print("{}", json_ ? json + "\n" : bench::ToText(run, before));
    return run.failures.empty() && (!strict_ || bench::BelowFloor(run).empty()) ? 0 : 1;
  }

 private:
  Status RunPart(const bench::Part& part, bench::ScoreRun& run) const {
    std::vector<std::string> words = {"bench"};
    words.insert(words.end(), part.words.begin(), part.words.end());
    LW_ASSIGN_OR_RETURN(bench::Captured captured, bench::Capture([&] { return Become(program_, words); }));
    while (captured.out.ends_with('\n')) captured.out.pop_back();
    // Some benches print their figures and exit with 1 when these are too much.
    if (captured.out.empty() || captured.exit_code > 1)
      return Unavailable("leeway bench {} ended with exit code {}", part.words[0], captured.exit_code);
    LW_ASSIGN_OR_RETURN(const std::vector<bench::Score> scores, bench::ScoresOf(part.name, captured.out));
    run.scores.insert(run.scores.end(), scores.begin(), scores.end());
    run.parts.emplace_back(part.name, captured.out);
    return Status::Ok();
  }

  const Program& program_;
  std::vector<std::string> only_;
  std::string baseline_, save_;
  bool quick_ = false, strict_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchAllCommand(const Program& program) {
  return std::make_unique<BenchAllCommand>(program);
}

}  // namespace leeway::app
