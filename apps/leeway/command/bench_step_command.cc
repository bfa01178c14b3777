#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "bench/busy.h"
#include "bench/capture.h"
#include "command/bench_script.h"
#include "command/commands.h"
#include "launch/launcher.h"

namespace leeway::app {
namespace {

class BenchStepCommand final : public Command {
 public:
  explicit BenchStepCommand(const Program& program) : program_(program), script_(program, "step.py") {}

  std::string name() const override { return "bench step"; }
  std::string summary() const override {
    return "what a training step costs beside plain PyTorch, in the same run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench step\n"
           "  leeway bench step --json -- --batch 128\n\n"
           "Starts a job of one worker and one server (bsp). What stands after \"--\" goes to the script.\n";
  }

  void Declare(FlagSet& flags) override {
    script_.Declare(flags);
    flags.Switch("--json", json_, "one JSON object on one line");
    flags.Rest("ARGS...", args_, "further arguments of the script");
  }

  Result<int> Run() override {
    LaunchOptions options;
    options.scheduler.job.job = fmt::format("step-{}", getpid());
    LW_ASSIGN_OR_RETURN(options.command, script_.Command());
    if (json_) options.command.emplace_back("--json");
    options.command.insert(options.command.end(), args_.begin(), args_.end());
    options.quiet = true;
    options.prefix = false;
    const bench::BusyMeter meter;
    LW_ASSIGN_OR_RETURN(const bench::Captured job, bench::Capture([&] {
                          const Result<int> code = LaunchJob(program_, options);
                          if (!code.ok()) fmt::print(stderr, "leeway: {}\n", code.status().message());
                          return code.ok() ? *code : ExitCode(code.status());
                        }));
    const bench::Busy busy = meter.End();
    if (job.exit_code != 0 || !json_) {
      fmt::print("{}{}", job.out, job.exit_code == 0 ? bench::TextOf(busy) : "");
      return job.exit_code;
    }
    // The script knows what a step takes; how busy the machine was is known here.
    auto line = nlohmann::ordered_json::parse(job.out, nullptr, false);
    if (!line.is_object())
      return InvalidArgument("got \"{}\" from the bench's script, wanted a JSON object", job.out);
    line["bench"] = "step";
    line.update(nlohmann::ordered_json::parse(bench::JsonOf(busy).Done()));
    fmt::print("{}\n", line.dump());
    return 0;
  }

 private:
  const Program& program_;
  BenchScript script_;
  std::vector<std::string> args_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchStepCommand(const Program& program) {
  return std::make_unique<BenchStepCommand>(program);
}

}  // namespace leeway::app
