// leeway ctl status and checkpoint: questions to the scheduler of a job that runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/errors.h"
#include "command/commands.h"
#include "command/ctl_scheduler.h"
#include "status/monitor_client.h"
#include "status/progress.h"
#include "status/status_text.h"
#include "terminal/error_output.h"
#include "terminal/screen.h"

namespace leeway::app {
namespace {

class CtlStatusCommand final : public Command {
 public:
  explicit CtlStatusCommand(const Program& program) : scheduler_(program) {}
  std::string name() const override { return "ctl status"; }
  std::string summary() const override {
    return "show what a running job does and what its workers wait for";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway ctl status --scheduler 127.0.0.1:7000 --secret-file job.secret\n"
           "  export LEEWAY_SECRET_FILE=$PWD/job.secret\n"
           "  leeway ctl status --scheduler 127.0.0.1:7000 --watch 2s\n"
           "  leeway ctl status --scheduler file:/shared/job.address --json\n\n"
           "Workers: their step, samples/s, seconds of computing per step, waits, staleness, and what they "
           "do now. Tables: the synchronization model, the iteration that is collected (v_train), delayed "
           "pulls (DPRs), and how long workers waited for them. --watch fits the screen. docs/cli.md lists "
           "what the JSON holds.\n";
  }
  void Declare(FlagSet& flags) override {
    scheduler_.Declare(flags, std::chrono::seconds(10));
    flags.Switch("--json", json_, "the scheduler's JSON and the account of the job, one line");
    flags.OptionalTime("--watch", watch_, every_,
                       "repeat it at this interval, until Ctrl-C or the job's end");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(MonitorOptions options, scheduler_.Options());
    if (watch_) {
      if (every_.count() == 0) return InvalidArgument("--watch: got 0ms, wanted more");
      options.every = every_;
    }
    const std::unique_ptr<MonitorClient> monitor = ConnectMonitor(options);
    LW_ASSIGN_OR_RETURN(const std::string json, scheduler_.Await(*monitor, [&] { return monitor->Take(); }));
    LW_RETURN_IF_ERROR(Show(json));
    return watch_ ? Watch(*monitor) : 0;
  }

 private:
  Result<int> Watch(MonitorClient& monitor) {
    for (;;) {
      if (const std::optional<std::string> json = monitor.Take()) LW_RETURN_IF_ERROR(Show(*json));
      if (const Status failed = monitor.failure(); !failed.ok()) {
        // The end of the job is what one watches for.
        if (failed.code() != StatusCode::kFailedPrecondition) return failed;
        PrintError("leeway: {}\n", failed.message());
        return 0;
      }
      monitor.WaitForNews(every_);
    }
  }

  Status Show(const std::string& json) {
    if (json_) {
      fmt::print("{}\n", StatusJson(json));
    } else {
      LW_ASSIGN_OR_RETURN(const JobStatus status, ParseJobStatus(json));
      if (!watch_) {
        fmt::print("{}", StatusText(status));
      } else {
        // A scheduler that was started again begins anew.
        uptime_s_ = std::max(uptime_s_, status.uptime_s);
        progress_.Add(status, uptime_s_);
        // A terminal is drawn anew; elsewhere one follows the other. Lines that are too long are cut off, not
        // wrapped: the top of the picture stays where it is.
        const bool drawn = isatty(STDOUT_FILENO) == 1;
        const std::string text =
            WatchText(status, progress_, Screen::PageRows() - 1);  // the cursor has the last
        fmt::print("{}{}{}", drawn ? "\x1b[H\x1b[2J\x1b[?7l" : "\n", text, drawn ? "\x1b[?7h" : "");
      }
    }
    return FlushOutput();
  }

  CtlScheduler scheduler_;
  bool json_ = false;
  bool watch_ = false;
  std::chrono::milliseconds every_{1'000};
  Progress progress_{0};
  double uptime_s_ = 0;
};

class CtlCheckpointCommand final : public Command {
 public:
  explicit CtlCheckpointCommand(const Program& program) : scheduler_(program) {}
  std::string name() const override { return "ctl checkpoint"; }
  std::string summary() const override { return "make a running job write a checkpoint now"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  export LEEWAY_SECRET_FILE=$PWD/job.secret\n"
           "  leeway ctl checkpoint --scheduler 127.0.0.1:7000 --wait\n"
           "  LEEWAY_SCHEDULER=file:/shared/job.address leeway ctl checkpoint\n\n"
           "Training continues. With --wait the command prints the folder of the checkpoint when it is "
           "complete. The job needs --checkpoint-dir.\n";
  }
  void Declare(FlagSet& flags) override {
    scheduler_.Declare(flags, std::chrono::minutes(2));
    flags.Switch("--wait", wait_, "wait until it is complete, and print its folder");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const MonitorOptions options, scheduler_.Options());
    const std::unique_ptr<MonitorClient> monitor = ConnectMonitor(options);
    monitor->AskCheckpoint(wait_);
    LW_ASSIGN_OR_RETURN(const AskedCheckpoint got,
                        scheduler_.Await(*monitor, [&]() -> std::optional<AskedCheckpoint> {
                          (void)monitor->Take();  // a status comes with every connect
                          return monitor->TakeCheckpoint();
                        }));
    LW_RETURN_IF_ERROR(got.status);
    if (got.checkpoint == 0) {
      fmt::print("the job writes a checkpoint; --wait prints its folder\n");
    } else {
      fmt::print("{}\n", got.folder);
      PrintError("leeway: checkpoint {} of iteration {} is whole\n", got.checkpoint, got.iteration);
    }
    return 0;
  }

 private:
  CtlScheduler scheduler_;
  bool wait_ = false;
};

}  // namespace

std::unique_ptr<Command> NewCtlStatusCommand(const Program& program) {
  return std::make_unique<CtlStatusCommand>(program);
}
std::unique_ptr<Command> NewCtlCheckpointCommand(const Program& program) {
  return std::make_unique<CtlCheckpointCommand>(program);
}

}  // namespace leeway::app
