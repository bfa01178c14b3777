#include <unistd.h>

#include <chrono>
#include <memory>

#include "base/errors.h"
#include "bench/cpu.h"
#include "cli/policy_check.h"
#include "command/bench_script.h"
#include "command/commands.h"
#include "launch/launcher.h"

namespace leeway::app {
namespace {

constexpr std::chrono::milliseconds kStepBusyTime{500};

class BenchStepCommand final : public Command {
 public:
  explicit BenchStepCommand(const Program& program) : program_(program), script_(program, "bench/step.py") {}

  std::string name() const override { return "bench step"; }
  std::string summary() const override {
    return "measure the cost of a training step beside plain PyTorch, in the same run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench step\n"
           "  leeway bench step --workers 4 --sync ssp:1\n"
           "  leeway bench step --json -- --batch 128 --pairs 41\n\n"
           "Starts a job whose workers train by turns with Leeway and as unconnected PyTorch "
           "processes.\n"
           "What stands after \"--\" goes to the script; `leeway bench step -- --help` lists what that "
           "takes.\n"
           "docs/performance.md says what the fields mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Number("-w,--workers", "N", workers_, 1, 64, "workers of the job");
    flags.Number("-s,--servers", "N", servers_, 1, 64, "servers of the job");
    flags.Text("--sync", "MODEL", sync_, "synchronization model", CheckBuiltinSync);
    script_.Declare(flags);
    flags.Switch("--json", json_, "one JSON object on one line");
    flags.Rest("ARGS...", args_, "further arguments of the script");
  }

  Result<int> Run() override {
    LaunchOptions options;
    options.scheduler.job.job = fmt::format("step-{}", getpid());
    options.scheduler.job.workers = workers_;
    options.scheduler.job.servers = servers_;
    LW_ASSIGN_OR_RETURN(options.command, script_.Command());
    // Before the job: its own processes would count as others.
    options.command.insert(options.command.end(),
                           {"--busy", fmt::format("{:.3f}", bench::BusyShare(kStepBusyTime))});
    options.command.insert(options.command.end(), {"--sync", sync_});
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
  std::string sync_ = "bsp";
  std::uint32_t workers_ = 1, servers_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchStepCommand(const Program& program) {
  return std::make_unique<BenchStepCommand>(program);
}

}  // namespace leeway::app
