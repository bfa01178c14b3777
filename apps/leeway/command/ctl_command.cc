// leeway ctl status and checkpoint: questions to the scheduler of a job that runs.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "base/errors.h"
#include "cli/quantity.h"
#include "command/commands.h"
#include "launch/monitor_client.h"
#include "launch/status_text.h"

namespace leeway::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What both take.
class Scheduler {
 public:
  explicit Scheduler(const Program& program)
      : where_(program.environment.Get("LEEWAY_SCHEDULER").value_or("")) {}

  void Declare(FlagSet& flags, std::chrono::milliseconds limit) {
    limit_ = limit;
    flags.Text("--scheduler", "WHERE", where_,
               "its address host:port, or file:PATH that holds it; else LEEWAY_SCHEDULER says it");
    flags.Time("--timeout", limit_, "how long to wait for the answer");
  }

  [[nodiscard]] Status Check() const {
    if (!where_.empty()) return Status::Ok();
    return InvalidArgument(
        "--scheduler: not given, and LEEWAY_SCHEDULER is not set; wanted host:port or file:PATH of the job's "
        "scheduler");
  }
  [[nodiscard]] MonitorOptions options() const {
    // One that was killed is back within seconds when `leeway run` looks after it.
    return {where_, "", std::chrono::milliseconds(0), std::min<std::chrono::milliseconds>(limit_, kReach)};
  }
  // Waits for what `take` finds, for an end of all hope, or for the limit.
  template <typename Take>
  auto Await(MonitorClient& monitor, Take take) -> Result<typename decltype(take())::value_type> {
    const auto until = SteadyClock::now() + limit_;
    for (;;) {
      if (auto got = take()) return std::move(*got);
      if (Status failed = monitor.failure(); !failed.ok()) return failed;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
      if (left.count() <= 0) {
        return DeadlineExceeded("no answer from the scheduler at {} within {}", where_, PrintTime(limit_));
      }
      monitor.WaitForNews(left);
    }
  }

 private:
  static constexpr std::chrono::milliseconds kReach{10'000};
  std::string where_;
  std::chrono::milliseconds limit_{};
};

class CtlStatusCommand final : public Command {
 public:
  explicit CtlStatusCommand(const Program& program) : scheduler_(program) {}
  std::string name() const override { return "ctl status"; }
  std::string summary() const override { return "what a running job does, and who waits for what"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway ctl status --scheduler 127.0.0.1:7000\n"
           "  leeway ctl status --scheduler file:/shared/job.address --json\n\n"
           "docs/cli.md lists what the JSON holds.\n";
  }
  void Declare(FlagSet& flags) override {
    scheduler_.Declare(flags, std::chrono::seconds(10));
    flags.Switch("--json", json_, "the scheduler's own JSON, one line");
  }

  Result<int> Run() override {
    LW_RETURN_IF_ERROR(scheduler_.Check());
    MonitorClient monitor(scheduler_.options());
    LW_ASSIGN_OR_RETURN(const std::string json, scheduler_.Await(monitor, [&] { return monitor.Take(); }));
    if (json_) {
      fmt::print("{}\n", json);
      return 0;
    }
    LW_ASSIGN_OR_RETURN(const JobStatus status, ParseJobStatus(json));
    fmt::print("{}", StatusText(status));
    return 0;
  }

 private:
  Scheduler scheduler_;
  bool json_ = false;
};

class CtlCheckpointCommand final : public Command {
 public:
  explicit CtlCheckpointCommand(const Program& program) : scheduler_(program) {}
  std::string name() const override { return "ctl checkpoint"; }
  std::string summary() const override { return "have a running job write a checkpoint now"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway ctl checkpoint --scheduler 127.0.0.1:7000 --wait\n"
           "  LEEWAY_SCHEDULER=file:/shared/job.address leeway ctl checkpoint\n\n"
           "Training goes on. With --wait the folder of the checkpoint is printed once it is whole; the job "
           "needs\n--checkpoint-dir.\n";
  }
  void Declare(FlagSet& flags) override {
    scheduler_.Declare(flags, std::chrono::minutes(2));
    flags.Switch("--wait", wait_, "wait until it is whole, and print where it is");
  }

  Result<int> Run() override {
    LW_RETURN_IF_ERROR(scheduler_.Check());
    MonitorClient monitor(scheduler_.options());
    monitor.AskCheckpoint(wait_);
    LW_ASSIGN_OR_RETURN(const AskedCheckpoint got,
                        scheduler_.Await(monitor, [&]() -> std::optional<AskedCheckpoint> {
                          (void)monitor.Take();  // a status comes with every connect
                          return monitor.TakeCheckpoint();
                        }));
    LW_RETURN_IF_ERROR(got.status);
    if (got.checkpoint == 0) {
      fmt::print("a checkpoint is asked for; --wait says where it is\n");
    } else {
      fmt::print("{}\n", got.folder);
      fmt::print(stderr, "leeway: checkpoint {} of iteration {} is whole\n", got.checkpoint, got.iteration);
    }
    return 0;
  }

 private:
  Scheduler scheduler_;
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
