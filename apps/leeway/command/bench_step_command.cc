#include <unistd.h>

#include <memory>

#include "base/errors.h"
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
    return LaunchJob(program_, options);
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
