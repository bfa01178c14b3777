#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/errors.h"
#include "calibrate/exchange_costs.h"
#include "command/commands.h"
#include "launch/launcher.h"
#include "process/trace_file.h"
#include "role/checkpoint_flags.h"
#include "role/job_flags.h"
#include "role/listen_address.h"
#include "role/loss_flags.h"
#include "role/plugin_flags.h"
#include "system/text_file.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

class RunCommand final : public Command {
 public:
  explicit RunCommand(const Program& program) : program_(program) {
    options_.scheduler.job.job = fmt::format("run-{}", getpid());
  }

  std::string name() const override { return "run"; }
  std::string summary() const override { return "run a training script as a job on this machine"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway run -w 4 -s 2 train.py --epochs 3\n"
           "  leeway run -w 4 -s 2 --sync ssp:3 --slow-worker 3:4x train.py\n"
           "  leeway run -w 4 -s 2 --restarts 3 --rejoin train.py\n"
           "  leeway run -w 4 -s 2 --checkpoint-dir ckpt --checkpoint-every 500 train.py\n"
           "  leeway run -w 4 -s 3 --resume ckpt --checkpoint-dir ckpt train.py\n"
           "  leeway run -w 4 -s 2 --record run.json train.py\n"
           "  leeway sim --from-run run.json\n"
           "  leeway run -w 4 -s 2 --trace out.json --trace-steps 100:120 train.py\n"
           "  leeway run -w 2 -s 2 --shards 2 --apply aggregate:reduce=ordered train.py\n"
           "  leeway run -w 2 -s 1 -- ./mine     # C++: WorkerOptions::FromEnvironment()\n"
           "  leeway run -w 2 -s 1 --plugin mine.so --exchange mine:5 train.py\n\n"
           "Workers find the job through LEEWAY_SCHEDULER, LEEWAY_SECRET_FILE, LEEWAY_JOB, LEEWAY_RANK and "
           "LEEWAY_SIZE (and LEEWAY_PLUGINS); lw.init() reads them. A worker that ends with an error of its "
           "own (exit code 1 to "
           "127) ends the job, and its exit code becomes that of leeway run. --on-worker-loss and --restarts "
           "decide about a worker that died.\n\n"
           "Ctrl-C interrupts the scripts (KeyboardInterrupt); the job ends with them, or after --grace. A "
           "second Ctrl-C ends everything at once. SIGTERM ends the job after a checkpoint (--grace), "
           "SIGUSR1 writes a checkpoint and the job continues, SIGQUIT (Ctrl-\\) shows who waits for "
           "what.\n\n" +
           JobLesson();
  }

  void Declare(FlagSet& flags) override {
    DeclareJobFlags(flags, options_.scheduler.job, plugins_.policies(), &origins_);
    plugins_.Declare(flags);
    flags.Each(
        "--slow-worker", "PATTERN",
        [this](const std::string& text) { return options_.slow_workers.Take(text); },
        "make workers slower, by sleeping: 3:4x (rank 3, for good), rotate:4x,5-10 (one after the other, for "
        "5 to 10 iterations), pauses:200ms,0.05 (each for 200ms in 5 % of its iterations)");
    flags.Text(
        "--listen", "HOST:PORT", options_.listen,
        "open TCP ports, the scheduler's here, for leeway ctl and workers started by hand [default: none]");
    flags.Switch("--bind-any", options_.bind_any,
                 "allow --listen at an address that other machines can reach");
    flags.Text("--secret-file", "FILE", options_.secret_file,
               "the file with the job's secret, for leeway ctl and workers started by hand; made if it does "
               "not exist");
    DeclareTransportFlag(flags, options_.scheduler.link.transport);
    DeclareCoresFlag(flags, options_.server_cores);
    flags.Time("--gather-timeout", options_.scheduler.gather_timeout,
               "how long to wait for all workers to join");
    flags.Time("--expel-after", options_.scheduler.expel_after,
               "a worker silent for this long is declared dead");
    DeclareLossFlags(flags, options_.scheduler);
    flags.NoteOrigin("--on-worker-loss", [this](const std::string&) { options_.accepts_losses = true; });
    DeclareCheckpointFlags(flags, options_.scheduler.checkpoint);
    const FlagSet::Choices<ServerLossPlan> plans = {{"patch", ServerLossPlan::kPatch},
                                                    {"rollback", ServerLossPlan::kRollback},
                                                    {"fail", ServerLossPlan::kFail}};
    flags.OneOf(
        "--on-server-loss", "WHAT", options_.on_server_loss, plans,
        "when a server has died: patch (another takes its place, with its blocks as they are in the newest "
        "checkpoint), rollback (all go back to it), fail (end)");
    flags.Number("--server-restarts", "N", options_.role_restart.servers, 0, 1'000'000,
                 "under patch: restart servers that died, at most N times in all");
    flags.Number("--scheduler-restarts", "N", options_.role_restart.scheduler, 0, 1'000'000,
                 "restart a scheduler that died, at most N times; it continues from its log");
    DeclareGraceFlag(flags, options_.grace);
    flags.Number("--restarts", "N", options_.restart.restarts, 0, 1'000'000,
                 "restart workers that died, at most N times in all");
    flags.Switch("--rejoin", options_.restart.rejoin,
                 "restart a worker that was declared dead while it lived (exit code 131); --restarts does "
                 "not count it");
    flags.Text("--summary-json", "FILE", options_.summary_json, "write the summary here, as JSON");
    flags.Text("--record", "FILE", options_.record,
               "write the costs of computing, links and servers in this run, for leeway sim --from-run");
    flags.Text("--trace", "FILE", options_.trace,
               "write a trace of all processes here, for ui.perfetto.dev: pushes, pulls, waits, modules");
    flags.Text("--trace-steps", "FROM:TO", options_.trace_steps,
               "the steps of --trace, from FROM on and below TO [default: " + TraceOptions().steps + "]");
    flags.Switch("--no-prefix", no_prefix_, "forward lines as they are, without [w0] before them");
    flags.Switch("-q,--quiet", options_.quiet,
                 "no progress and no summary: only what workers print, warnings and errors");
    DeclareLogFlag(flags, options_.log_level);
    flags.Rest(
        "COMMAND...", options_.command,
        "what every worker runs, found in PATH as in a shell; a script (NAME.py) is run by the Python of "
        "this build, and needs no \"--\"");
    options_.is_flag = [&flags](std::string_view word) { return flags.Find(word) != nullptr; };
  }

  Result<int> Run() override {
    const JobOptions& job = options_.scheduler.job;
    if (!options_.listen.empty()) LW_RETURN_IF_ERROR(CheckListenAndTell(options_.listen, options_.bind_any));
    LW_RETURN_IF_ERROR(CheckJobFlags(job, plugins_.policies(), origins_));
    LW_RETURN_IF_ERROR(CheckLossFlags(options_.scheduler));
    LW_RETURN_IF_ERROR(TakeCheckpointFlags(options_.scheduler.checkpoint));
    LW_RETURN_IF_ERROR(CheckWaits());
    LW_RETURN_IF_ERROR(CheckFile("--summary-json", options_.summary_json));
    LW_RETURN_IF_ERROR(CheckFile("--record", options_.record));
    LW_RETURN_IF_ERROR(CheckTrace());
    LW_RETURN_IF_ERROR(options_.slow_workers.Check(job.workers).WithContext("--slow-worker"));
    // There is no flag for it here: reported at the latest when it is declared dead.
    options_.scheduler.suspect_after =
        std::min(options_.scheduler.suspect_after, options_.scheduler.expel_after);
    options_.plugins = plugins_.paths();
    options_.prefix = !no_prefix_;
    if (!options_.record.empty()) {
      LW_ASSIGN_OR_RETURN(options_.exchange_costs, MeasureExchange(options_.scheduler.link.transport));
    }
    return LaunchJob(program_, options_);
  }

 private:
  Status CheckWaits() const {
    const SchedulerOptions& s = options_.scheduler;
    if (s.gather_timeout.count() == 0) return InvalidArgument("--gather-timeout: got 0ms, wanted more");
    if (s.expel_after < s.link.beat) {
      return InvalidArgument("--expel-after: got {}, wanted at least {}: workers are heard that often",
                             PrintTime(s.expel_after), PrintTime(s.link.beat));
    }
    return Status::Ok();
  }

  Status CheckTrace() const {
    LW_RETURN_IF_ERROR(CheckFile("--trace", options_.trace));
    if (options_.trace_steps.empty()) return Status::Ok();
    if (options_.trace.empty()) return InvalidArgument("--trace-steps: given without --trace FILE");
    return ParseTraceSteps(options_.trace_steps).status().WithContext("--trace-steps");
  }

  static Status CheckFile(const std::string& flag, const std::string& name) {
    return name.empty() ? Status::Ok() : CheckTextFile(name).WithContext(flag);
  }

  const Program& program_;
  LaunchOptions options_;
  JobOrigins origins_;
  PluginFlags plugins_;
  bool no_prefix_ = false;
};

}  // namespace

std::unique_ptr<Command> NewRunCommand(const Program& program) {
  return std::make_unique<RunCommand>(program);
}

}  // namespace leeway::app
