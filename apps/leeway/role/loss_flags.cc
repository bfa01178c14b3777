#include "role/loss_flags.h"

#include "base/errors.h"

namespace leeway::app {

void DeclareLossFlags(FlagSet& flags, SchedulerOptions& options) {
  flags.Number("--min-workers", "N", options.min_workers, 0, 4096,
               "begin with this many workers when --gather-timeout is over, and never shrink below; 0: begin "
               "with all");
  flags.TimeLimit("--wait-max", options.wait_max,
                  "a worker that lives but makes no call for this long while others wait for it is declared "
                  "dead; none: the others wait");
  FlagSet::Choices<OnWorkerLoss> choices;
  for (const OnWorkerLoss what : {OnWorkerLoss::kShrink, OnWorkerLoss::kWait, OnWorkerLoss::kFail})
    choices.emplace_back(NameOf(what), what);
  flags.OneOf("--on-worker-loss", "WHAT", options.on_worker_loss, choices,
              "when a worker has died: shrink (continue without it), wait (keep its place), fail (end)");
}

Status CheckLossFlags(const SchedulerOptions& options) {
  if (options.min_workers <= options.job.workers) return Status::Ok();
  return InvalidArgument("--min-workers: got {}, wanted at most {}, which --workers says",
                         options.min_workers, options.job.workers);
}

void DeclareServerLossFlag(FlagSet& flags, OnServerLoss& on_server_loss) {
  FlagSet::Choices<OnServerLoss> choices;
  for (const OnServerLoss what : {OnServerLoss::kPatch, OnServerLoss::kFail})
    choices.emplace_back(NameOf(what), what);
  flags.OneOf(
      "--on-server-loss", "WHAT", on_server_loss, choices,
      "when a server has died: patch (another takes its place, with its blocks as they are in the newest "
      "checkpoint), fail (end)");
}

const char* NameOf(OnServerLoss what) { return what == OnServerLoss::kPatch ? "patch" : "fail"; }

const char* NameOf(OnWorkerLoss what) {
  constexpr const char* kNames[] = {"shrink", "wait", "fail"};
  return kNames[static_cast<std::size_t>(what)];
}

}  // namespace leeway::app
