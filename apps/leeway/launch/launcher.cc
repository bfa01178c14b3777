#include "launch/launcher.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/errors.h"
#include "launch/guard.h"
#include "launch/job_checkpoints.h"
#include "launch/launch.h"
#include "launch/worker_program.h"
#include "process/secret_file.h"
#include "role/checkpoint_flags.h"
#include "status/job_events.h"
#include "system/signal_inbox.h"
#include "terminal/error_output.h"
#include "trace/trace_parts.h"

namespace leeway::app {
namespace {

void Say(const std::string& line) { PrintError("leeway: {}\n", line); }

Result<std::string> MakeFolder(const Environment& environment) {
  std::string folder = environment.Get("TMPDIR").value_or("/tmp") + "/leeway-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return ResourceExhausted("cannot make the folder {}: {}", folder, std::strerror(errno));
  return folder;
}

// The file of the job's secret and what it holds: the given one, made if it is not there, or one in the
// launch's own folder, which nobody else can look into.
Status TakeJobSecret(const std::string& given, LaunchFiles& files, std::string& secret) {
  files.secret = given.empty() ? files.folder + "/secret" : std::filesystem::absolute(given).string();
  Result<std::string> made = MakeSecretFile(files.secret);
  if (!given.empty() && made.status().code() == StatusCode::kAlreadyExists)
    made = ReadSecretFile(files.secret);
  LW_ASSIGN_OR_RETURN(secret, std::move(made));
  return Status::Ok();
}

// Names the checkpoint that the job begins from, and says whether it is fuzzy.
void SayWhereItGoesOn(const LaunchOptions& options) {
  const std::string& resume = options.scheduler.checkpoint.resume;
  if (resume.empty() || options.quiet) return;
  Say(fmt::format("goes on from checkpoint {}{}", resume, FuzzyNote(resume)));
}

// The last line of a job that did not come to its end.
void SayHowToGoOn(const JobCheckpoints& checkpoints, const std::string& newest, bool role_lost) {
  if (!newest.empty()) {
    Say(fmt::format("go on from its newest checkpoint with: leeway run --resume {} ...{}", newest,
                    FuzzyNote(newest)));
  } else if (role_lost) {
    Say(checkpoints.enabled()
            ? "there is no checkpoint to go on from: the job ended before its first one was whole"
            : "there is no checkpoint to go on from; --checkpoint-dir FOLDER with "
              "--checkpoint-every N or --checkpoint-time T writes some");
  }
}

Result<int> LaunchUntilEnd(const Program& program, const LaunchOptions& options) {
  if (options.command.empty())
    return InvalidArgument("no command given; wanted a script (train.py), or a command after \"--\"");
  LW_ASSIGN_OR_RETURN(const WorkerProgram worker, FindWorkerProgram(program, options.command));
  // The parent process may ignore it, and then this process could not wait for a child.
  std::signal(SIGCHLD, SIG_DFL);
  // SIGPIPE is among them so that a reader of our output that went away does not end the job halfway.
  LW_ASSIGN_OR_RETURN(SignalInbox signals,
                      SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGCHLD, SIGPIPE}));
  LW_ASSIGN_OR_RETURN(const Descriptor stop, SignalInbox::Watch({SIGINT, SIGTERM, SIGHUP}));
  LaunchOptions now = options;
  now.command = worker.args;
  LW_RETURN_IF_ERROR(ChooseResume(now.scheduler.checkpoint, Say));
  SayWhereItGoesOn(now);
  const JobCheckpoints checkpoints(now.scheduler.checkpoint);
  JobEvents events;
  for (std::uint32_t rollbacks = 0;; ++rollbacks) {
    LW_ASSIGN_OR_RETURN(const std::string folder, MakeFolder(program.environment));
    LW_ASSIGN_OR_RETURN(const Guard guard, Guard::Start(folder));
    LaunchFiles files{.folder = folder, .secret = ""};
    if (const Status taken = TakeJobSecret(now.secret_file, files, now.scheduler.link.secret); !taken.ok())
      return taken.WithContext(now.secret_file.empty() ? "the job's secret" : "--secret-file");
    Launch launch(program, now, files, worker.program, signals, stop, guard, checkpoints, events);
    const int exit_code = launch.Run();
    const bool role_lost = !launch.role_lost().empty();
    const std::string& newest = launch.newest();
    if (!role_lost || launch.interrupted() || newest.empty() ||
        now.on_server_loss != ServerLossPlan::kRollback || rollbacks == now.rollbacks_max) {
      if (rollbacks > 0 && rollbacks == now.rollbacks_max && role_lost)
        Say(fmt::format("{}, after {} rollbacks already; giving up", launch.role_lost(), rollbacks));
      // One that was refused before it began has written none: what lies there is another job's.
      if (exit_code != 0 && launch.begun())
        SayHowToGoOn(checkpoints, newest, role_lost && !launch.script_failed());
      signals.StayBlocked();  // the summary has the exit code already
      return exit_code;
    }
    // The newest good one: that it is whole does not say that every byte is.
    if (newest != now.scheduler.checkpoint.resume)
      now.scheduler.checkpoint.resume = now.scheduler.checkpoint.folder;
    LW_RETURN_IF_ERROR(ChooseResume(now.scheduler.checkpoint, Say));
    events.Add(EventKind::kRollback, "job", "went back to " + now.scheduler.checkpoint.resume);
    const std::string& resume = now.scheduler.checkpoint.resume;
    Say(fmt::format("{}; the job goes back to {}{}", launch.role_lost(), resume, FuzzyNote(resume)));
  }
}

}  // namespace

Result<int> LaunchJob(const Program& program, const LaunchOptions& options) {
  if (options.trace.empty()) return LaunchUntilEnd(program, options);
  const std::string steps = options.trace_steps.empty() ? TraceOptions().steps : options.trace_steps;
  const Result<TraceParts> parts = TraceParts::Make(options.trace, steps);
  if (!parts.ok()) return parts.status().WithContext("--trace");
  LaunchOptions now = options;
  now.trace_parts = parts->options();
  Result<int> ended = LaunchUntilEnd(program, now);
  const Result<MergedTrace> merged = parts->Merge();
  // A trace that cannot be written is no failure of the job.
  if (!merged.ok()) {
    Say("trace: " + merged.status().message());
  } else if (!options.quiet && ended.ok()) {
    Say(ToText(*merged, options.trace));
  }
  return ended;
}

}  // namespace leeway::app
