#include "role/loss_flags.h"

#include "base/errors.h"

namespace leeway::app {

void DeclareLossFlags(FlagSet& flags, SchedulerOptions& options, std::string& on_worker_loss) {
  flags.Number("--min-workers", "N", options.min_workers, 0, 4096,
               "begin with this many workers when --gather-timeout is over, and never shrink below; 0: begin "
               "with all");
  flags.TimeLimit("--wait-max", options.wait_max,
                  "a worker that lives but makes no call for this long while others wait for it is declared "
                  "dead; none: the others wait");
  on_worker_loss = NameOf(options.on_worker_loss);
  flags.Text("--on-worker-loss", "WHAT", on_worker_loss,
             "when a worker has died: shrink (continue without it), wait (keep its place), fail (end)",
             [](const std::string& text) { return ParseOnWorkerLoss(text).status(); });
}

Status TakeLossFlags(const std::string& on_worker_loss, SchedulerOptions& options) {
  LW_ASSIGN_OR_RETURN(options.on_worker_loss, ParseOnWorkerLoss(on_worker_loss));
  if (options.min_workers > options.job.workers) {
    return InvalidArgument("--min-workers: got {}, wanted at most {}, which --workers says",
                           options.min_workers, options.job.workers);
  }
  return Status::Ok();
}

void DeclareServerLossFlag(FlagSet& flags, std::string& on_server_loss) {
  on_server_loss = NameOf(OnServerLoss::kPatch);
  flags.Text(
      "--on-server-loss", "WHAT", on_server_loss,
      "when a server has died: patch (another takes its place, with its blocks as they are in the newest "
      "checkpoint), fail (end)",
      [](const std::string& text) { return ParseOnServerLoss(text).status(); });
}

Result<OnServerLoss> ParseOnServerLoss(const std::string& text) {
  for (const OnServerLoss what : {OnServerLoss::kPatch, OnServerLoss::kFail}) {
    if (text == NameOf(what)) return what;
  }
  return InvalidArgument("got \"{}\", wanted patch or fail", text);
}

const char* NameOf(OnServerLoss what) { return what == OnServerLoss::kPatch ? "patch" : "fail"; }

Result<OnWorkerLoss> ParseOnWorkerLoss(const std::string& text) {
  for (const OnWorkerLoss what : {OnWorkerLoss::kShrink, OnWorkerLoss::kWait, OnWorkerLoss::kFail}) {
    if (text == NameOf(what)) return what;
  }
  return InvalidArgument("got \"{}\", wanted shrink, wait or fail", text);
}

const char* NameOf(OnWorkerLoss what) {
  constexpr const char* kNames[] = {"shrink", "wait", "fail"};
  return kNames[static_cast<std::size_t>(what)];
}

}  // namespace leeway::app
