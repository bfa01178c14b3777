#include "role/job_flags.h"

#include <fmt/format.h>

#include <array>

#include "base/errors.h"
#include "role/log_level.h"
#include "role/policy_check.h"

namespace leeway::app {

void DeclareJobFlags(FlagSet& flags, JobOptions& job) {
  flags.Number("-w,--workers", "N", job.workers, 1, 4096, "workers");
  flags.Number("-s,--servers", "N", job.servers, 1, 1024, "server processes");
  flags.Number("--shards", "N", job.shards, 1, 64,
               "shards per server: one thread each, give it a core of its own");
  flags.Text("--sync", "SPEC", job.sync, "synchronization model of tables that name none", CheckSync);
  flags.Text("--apply", "SPEC", job.apply,
             "how pushes are applied: immediate, or aggregate:reduce=ordered,window=2 [default: the sync "
             "model's own]");
  flags.Text("--placement", "SPEC", job.placement, "which shard owns which block", CheckPlacement);
  flags.Bytes("--block-bytes", job.block_bytes, 64, 64U << 20, "the largest block");
  flags.Number("--seed", "N", job.seed, 0, ~0ULL, "seed of everything that is drawn");
  flags.Text("--job", "NAME", job.job, "name of the job; nodes of another one are refused");
}

void DeclareLinkFlags(FlagSet& flags, LinkOptions& link) {
  flags.Time("--beat", link.beat, "a ping this long after the last frame sent");
  flags.Time("--silence-max", link.silence_max, "a peer silent for this long is cut off");
  flags.Time("--give-up-after", link.give_up_after,
             "a peer that cannot be reached for this long is given up");
}

void DeclareLogFlag(FlagSet& flags, std::string& level) {
  flags.Text("--log", "LEVEL", level, "least level of log lines: debug, info, warning, error",
             [](const std::string& text) { return ParseLogLevel(text).status(); });
}

Status CheckJobFlags(const JobOptions& job) {
  Status fits = CheckApply(job.sync, job.apply);
  if (fits.ok()) return fits;
  return InvalidArgument("--apply with --sync {}: {}", job.sync, fits.message());
}

std::string JobLesson() {
  return fmt::format(
      "Policies known here:\n"
      "  sync        {}          ssp:3 lets a worker run 3 iterations ahead; ssp:3,release=soft\n"
      "  apply       immediate, aggregate      aggregate:reduce=ordered gives the same bits in every run\n"
      "  optimizer   {}\n"
      "  placement   {}\n",
      KnownSyncModels(), KnownOptimizers(), KnownPlacements());
}

}  // namespace leeway::app
