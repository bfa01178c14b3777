#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "command/commands.h"
#include "node/scheduler/scheduler_log.h"
#include "process/console_log.h"
#include "process/scheduler_process.h"
#include "role/checkpoint_flags.h"
#include "role/job_flags.h"
#include "role/listen_address.h"
#include "role/loss_flags.h"
#include "role/plugin_flags.h"
#include "role/secret_flags.h"
#include "role/until_ended.h"
#include "status/job_display.h"
#include "status/who_waits.h"
#include "system/text_file.h"
#include "terminal/error_output.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

class SchedulerCommand final : public Command {
 public:
  explicit SchedulerCommand(const Program& program) : secret_(program.environment) {}
  std::string name() const override { return "scheduler"; }
  std::string summary() const override {
    return "start the scheduler of a job by itself, until the job ends";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  (umask 077; head -c 32 /dev/urandom | base64 > job.secret)\n"
           "  export LEEWAY_SECRET_FILE=$PWD/job.secret     # in each shell\n"
           "  leeway scheduler --listen 127.0.0.1:7000 -w 2 -s 1\n"
           "  leeway server --scheduler 127.0.0.1:7000 --server 0   # another shell\n"
           "  export PYTHONPATH=$PWD/build/python           # a third and a fourth\n"
           "  export LEEWAY_SCHEDULER=127.0.0.1:7000\n"
           "  $(cat build/python/interpreter) train.py\n\n" +
           JobLesson();
  }

  void Declare(FlagSet& flags) override {
    flags.Text("--listen", "HOST:PORT", options_.listen,
               "where to listen; port 0: any free one; local:NAME: this host alone, no TCP port");
    flags.Switch("--bind-any", options_.bind_any, "allow an address that other machines can reach");
    flags.Text("--address-file", "FILE", address_file_,
               "write the address here once it listens (for file:FILE)");
    flags.Text("--status-file", "FILE", status_file_, "write the job's last status here, as JSON");
    DeclareJobFlags(flags, options_.job, plugins_.policies(), &origins_);
    plugins_.Declare(flags);
    flags.Time("--gather-timeout", options_.gather_timeout,
               "how long the job waits for all workers and servers");
    flags.Time("--suspect-after", options_.suspect_after, "a node silent for this long is reported");
    flags.Time("--expel-after", options_.expel_after, "a worker silent for this long is declared dead");
    DeclareLossFlags(flags, options_);
    DeclareServerLossFlag(flags, options_.on_server_loss);
    DeclareCheckpointFlags(flags, options_.checkpoint);
    DeclareGraceFlag(flags, grace_);
    flags.Text("--log-dir", "FOLDER", options_.log_folder,
               "keep the log of this job here: a scheduler that restarts with it continues the job");
    secret_.Declare(flags);
    DeclareLinkFlags(flags, options_.link);
    flags.Switch("-q,--quiet", quiet_, "no lines of progress and no summary at the end");
    DeclareLogFlag(flags, log_level_);
    flags.NoteOrigin("--on-worker-loss", [this](const std::string&) { accepts_losses_ = true; });
  }

  Result<int> Run() override {
    // A reader of the file connects to the address in it. Without a file the user passes on the address by
    // hand.
    LW_RETURN_IF_ERROR(address_file_.empty() ? CheckListen(options_.listen, options_.bind_any)
                                             : CheckListenAndTell(options_.listen, options_.bind_any));
    LW_RETURN_IF_ERROR(CheckJobFlags(options_.job, plugins_.policies(), origins_));
    LW_RETURN_IF_ERROR(CheckLossFlags(options_));
    LW_RETURN_IF_ERROR(TakeCheckpointFlags(options_.checkpoint));
    LW_ASSIGN_OR_RETURN(options_.link.secret, secret_.Take());
    if (!options_.log_folder.empty()) {
      LW_ASSIGN_OR_RETURN(options_.log_folder, ResolveLink("--log-dir", options_.log_folder));
    }
    // A job that goes on from its log begins from no checkpoint, which may be gone by now.
    const bool goes_on = !options_.log_folder.empty() &&
                         std::filesystem::exists(std::filesystem::path(options_.log_folder) / kLogName);
    if (!goes_on) {
      LW_RETURN_IF_ERROR(ChooseResume(options_.checkpoint, [](const std::string& line) {
        std::fprintf(stderr, "leeway: %s\n", line.c_str());
      }));
    }
    LW_ASSIGN_OR_RETURN(SignalInbox signals, OpenStopAndAskSignals());
    ConsoleLog log("scheduler", log_level_);
    LW_ASSIGN_OR_RETURN(const std::unique_ptr<SchedulerProcess> process,
                        SchedulerProcess::Start(options_, plugins_.policies(), log));
    if (!address_file_.empty()) LW_RETURN_IF_ERROR(WriteTextFile(address_file_, process->address() + "\n"));
    log.Write(LogLevel::kInfo,
              fmt::format("listening at {} for {} and {}", process->address(),
                          Counted(options_.job.workers, "worker"), Counted(options_.job.servers, "server")));
    JobDisplay display(options_.job.workers);
    RoleCalls calls = CallsOf(*process, log);
    const auto began = std::chrono::steady_clock::now();
    const auto seconds = [began] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    calls.show_every = quiet_ ? std::chrono::milliseconds(0) : JobDisplay::kEvery;
    calls.show = [&] {
      const std::string line = display.Line(process->StatusJson(), seconds());
      if (!line.empty()) std::fprintf(stderr, "leeway: %s\n", line.c_str());
    };
    const Status ended = UntilEnded(signals, calls);
    const std::string status = process->StatusJson();
    if (!status_file_.empty()) LW_RETURN_IF_ERROR(WriteTextFile(status_file_, status + "\n"));
    if (!quiet_) {
      std::fputs(("\n" + display.Summary(status, ended, seconds())).c_str(), stdout);
      LW_RETURN_IF_ERROR(FlushOutput());
    }
    if (ended.ok() && !accepts_losses_) LW_RETURN_IF_ERROR(CheckLosses(status));
    return ExitOf(ended, log);
  }

 private:
  // A job that has lost workers ended well only if the user has said what to do about losses.
  static Status CheckLosses(const std::string& status_json) {
    LW_ASSIGN_OR_RETURN(const JobStatus status, ParseJobStatus(status_json));
    for (const WorkerStatus& worker : status.workers) {
      if (worker.state != "dead") continue;
      return Unavailable(
          "the job came to its end, but without worker {}, which died: that is a failure unless "
          "--on-worker-loss says what to do about losses",
          worker.rank);
    }
    return Status::Ok();
  }

  RoleCalls CallsOf(SchedulerProcess& process, Log& log) const {
    RoleCalls calls;
    calls.wait = [&process](std::chrono::milliseconds limit) { return process.Wait(limit); };
    calls.stop = [&process](const Status& why) { process.Stop(why); };
    calls.tell = [&process] { std::fputs(WhoWaitsText(process.StatusJson()).c_str(), stderr); };
    // (That one is whole the scheduler logs itself.)
    calls.checkpoint = [&process, &log] {
      process.RequestCheckpoint([&log](const CheckpointOutcome& outcome) {
        if (!outcome.status.ok())
          log.Write(LogLevel::kWarning, fmt::format("no checkpoint: {}", outcome.status.message()));
      });
    };
    calls.grace = options_.checkpoint.folder.empty() ? std::chrono::milliseconds(0) : grace_;
    // shared with answers, which come on the scheduler's thread: one is asked for, and was before
    const auto asked = std::make_shared<std::atomic<bool>>(false);
    const auto told = std::make_shared<bool>(false);
    const auto failed = std::make_shared<std::string>();  // how the one before did; on the scheduler's thread
    calls.drain = [this, &process, &log, asked, told, failed](const Status& why) {
      if (asked->exchange(true)) return;
      if (!std::exchange(*told, true)) {
        log.Write(LogLevel::kInfo,
                  fmt::format("{}: ends after a checkpoint, within {} (once more to end at once)",
                              why.message(), PrintTime(grace_)));
      }
      process.RequestCheckpoint([&process, &log, asked, failed, why](const CheckpointOutcome& outcome) {
        log.Write(LogLevel::kInfo, outcome.status.ok()
                                       ? fmt::format("go on with --resume {}", outcome.folder)
                                       : fmt::format("no checkpoint: {}", outcome.status.message()));
        // A checkpoint may fail because a server was lost: the next try may do better, while there is time. A
        // try that fails the same way again would not.
        const std::string& message = outcome.status.message();
        std::string reason = message.substr(message.find(": ") + 1);  // "checkpoint 7 was given up: ..."
        const bool again = outcome.status.code() == StatusCode::kUnavailable && reason != *failed;
        *failed = std::move(reason);
        if (again) return asked->store(false);
        process.Stop(why);
      });
    };
    return calls;
  }

  SecretFlags secret_;
  PluginFlags plugins_;
  SchedulerOptions options_;
  JobOrigins origins_;
  std::chrono::milliseconds grace_{30'000};
  std::string address_file_;
  std::string status_file_;
  LogLevel log_level_ = LogLevel::kInfo;
  bool quiet_ = false;
  bool accepts_losses_ = false;
};

}  // namespace

std::unique_ptr<Command> NewSchedulerCommand(const Program& program) {
  return std::make_unique<SchedulerCommand>(program);
}

}  // namespace leeway::app
