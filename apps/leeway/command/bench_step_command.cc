#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "command/commands.h"
#include "launch/launcher.h"
#include "launch/text_file.h"

namespace leeway::app {
namespace {

class BenchStepCommand final : public Command {
 public:
  explicit BenchStepCommand(const Program& program) : program_(program) {
    // Built in <project>/build; elsewhere --script says where it is.
    script_ = std::filesystem::path(program.executable).parent_path().parent_path() / "bench" / "step.py";
  }

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
    flags.Text("--script", "FILE", script_, "the bench");
    flags.Text("--python", "FILE", python_,
               "the interpreter that has torch [default: the one this was built with]");
    flags.Switch("--json", json_, "one JSON object on one line");
    flags.Rest("ARGS...", args_, "further arguments of the script");
  }

  Result<int> Run() override {
    if (python_.empty()) {
      const std::string noted = program_.python_folder() + "/interpreter";
      const Result<std::string> found = ReadTextFile(noted);
      if (!found.ok())
        return NotFound("no interpreter noted at build time ({}); name one with --python", noted);
      python_ = found->substr(0, found->find('\n'));
    }
    if (access(script_.c_str(), R_OK) != 0)
      return NotFound("cannot read the bench {}; name it with --script", script_);
    LaunchOptions options;
    options.scheduler.job.job = fmt::format("step-{}", getpid());
    options.command = {python_, script_};
    if (json_) options.command.emplace_back("--json");
    options.command.insert(options.command.end(), args_.begin(), args_.end());
    options.quiet = true;
    options.prefix = false;
    return LaunchJob(program_, options);
  }

 private:
  const Program& program_;
  std::string script_, python_;
  std::vector<std::string> args_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchStepCommand(const Program& program) {
  return std::make_unique<BenchStepCommand>(program);
}

}  // namespace leeway::app
