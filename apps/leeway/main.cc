// The program. Reads argv and the environment, here and nowhere else, and hands both on.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "cli/command_line.h"
#include "cli/simulator_variables.h"
#include "command/commands.h"
#include "terminal/error_output.h"

namespace {

// If stdout is closed at the start, the next descriptor gets number 1, and our output would go to a pipe or
// socket of our own.
void OpenStandardStreams() {
  int fd = -1;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

int ComplainOfOutput(const std::string& why) {
  leeway::app::PrintError("leeway: cannot write standard output: {}\n", why);
  return ExitCode(leeway::ResourceExhausted("output"));
}

// A short output leaves the buffer of stdout only here.
int EndOutput(int code) {
  const leeway::Status flushed = leeway::app::FlushOutput();
  if (flushed.ok()) return code;
  leeway::app::PrintError("leeway: {}\n", flushed.message());
  return code == 0 ? ExitCode(flushed) : code;
}

}  // namespace

int main(int argc, char** argv, char** envp) {
  using namespace leeway::app;

  OpenStandardStreams();
  // A write beyond the limit on file sizes fails with a message. The signal would end the process without
  // one.
  std::signal(SIGXFSZ, SIG_IGN);
  std::error_code error;
  Program program{std::filesystem::read_symlink("/proc/self/exe", error).string(), Environment(envp)};
  if (error) {
    std::fprintf(stderr, "leeway: cannot find its own executable: %s\n", error.message().c_str());
    return 70;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto wanted = SimulatorVariables(words, program.environment, HasCommonKernels())) {
    StartAnew(program, argv, *wanted);
  }
  Commands commands;
  commands.push_back(NewRunCommand(program));
  commands.push_back(NewSchedulerCommand(program));
  commands.push_back(NewServerCommand(program));
  commands.push_back(NewCtlStatusCommand(program));
  commands.push_back(NewCtlCheckpointCommand(program));
  commands.push_back(NewCtlSetSyncCommand(program));
  commands.push_back(NewSimCommand(program));
  commands.push_back(NewTimelineCommand(program));
  commands.push_back(NewCheckpointLsCommand());
  commands.push_back(NewCheckpointVerifyCommand());
  commands.push_back(NewCheckpointDiffCommand());
  commands.push_back(NewCheckpointExportCommand());
  commands.push_back(NewBenchAllCommand(program));
  commands.push_back(NewBenchPushPullCommand());
  commands.push_back(NewBenchLatencyCommand());
  commands.push_back(NewBenchScaleCommand());
  commands.push_back(NewBenchMemoryCommand());
  commands.push_back(NewBenchOptimizerCommand());
  commands.push_back(NewBenchStepCommand(program));
  commands.push_back(NewBenchPredictCommand(program));
  commands.push_back(NewBenchSyncCommand());
  commands.push_back(NewBenchSimCommand());
  commands.push_back(NewBenchCheckpointCommand(program));
  commands.push_back(NewBenchTrainCommand());
  commands.push_back(NewVersionCommand());
  const ProgramText text{
      "leeway", "Leeway: a parameter server for training on machines that do not keep step.",
      "Start here:\n"
      "  leeway run -w 4 -s 2 examples/fashion_mnist.py\n"
      "  leeway run -w 4 -s 2 --sync ssp:3 --slow-worker 3:4x examples/fashion_mnist.py\n"
      "  leeway sim scenarios/uneven.toml\n\n"
      "Exit codes: 0 done, 1 to 127 trying again changes nothing (2: wrong usage), 128 and above worth "
      "retrying.\n"};
  try {
    return EndOutput(RunCommandLine(text, commands, words));
  } catch (const std::system_error& failed) {  // fmt::print throws one when stdout takes nothing more
    return failed.code() == std::errc::broken_pipe ? 0 : ComplainOfOutput(failed.code().message());
  }
}
