#include "node/scheduler/job_check.h"

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::uint64_t kNodesMax = 65'536;
constexpr std::size_t kJobNameBytesMax = 256;
// A welcome carries these before the limits of the connection are lifted, in a body of at most 4096 bytes.
constexpr std::size_t kJobSpecBytesMax = 512;

Status CheckCount(const char* what, std::uint64_t got) {
  if (got >= 1 && got <= kNodesMax) return Status::Ok();
  return InvalidArgument("{} of the job: got {}, wanted 1 to {}", what, got, kNodesMax);
}

Status CheckLength(const char* what, const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return Status::Ok();
  return InvalidArgument("{} of the job: got {} bytes, wanted at most {}", what, text.size(), bytes_max);
}

template <typename Value>
Status CheckSame(const char* what, const Value& log, const Value& options) {
  if (log == options) return Status::Ok();
  return FailedPrecondition("it is of another job, or this is: {}: got {}, wanted {} as in the log", what,
                            options, log);
}

std::uint32_t FlushBytesOf(const wire::pb::Job& job) {
  return job.flush_bytes() > 0 ? job.flush_bytes() : JobOptions{}.flush_bytes;
}

Status CheckSameOptions(const wire::pb::Job& log, const wire::pb::Job& options) {
  LW_RETURN_IF_ERROR(CheckSame("name", log.job(), options.job()));
  LW_RETURN_IF_ERROR(CheckSame("workers", log.workers(), options.workers()));
  LW_RETURN_IF_ERROR(CheckSame("servers", log.servers(), options.servers()));
  LW_RETURN_IF_ERROR(CheckSame("shards per server", log.shards(), options.shards()));
  LW_RETURN_IF_ERROR(CheckSame("sync", log.sync(), options.sync()));
  LW_RETURN_IF_ERROR(CheckSame("apply", log.apply(), options.apply()));
  LW_RETURN_IF_ERROR(CheckSame("pull", log.pull(), options.pull()));
  LW_RETURN_IF_ERROR(CheckSame("exchange", log.exchange(), options.exchange()));
  LW_RETURN_IF_ERROR(CheckSame("no_overlap", log.no_overlap(), options.no_overlap()));
  LW_RETURN_IF_ERROR(CheckSame("flush_bytes", FlushBytesOf(log), FlushBytesOf(options)));
  LW_RETURN_IF_ERROR(CheckSame("no_priorities", log.no_priorities(), options.no_priorities()));
  LW_RETURN_IF_ERROR(CheckSame("pull_at_clock", log.pull_at_clock(), options.pull_at_clock()));
  LW_RETURN_IF_ERROR(CheckSame("placement", log.placement(), options.placement()));
  LW_RETURN_IF_ERROR(CheckSame("block_bytes", log.block_bytes(), options.block_bytes()));
  return CheckSame("seed", log.seed(), options.seed());
}

}  // namespace

Status CheckJob(const JobOptions& job) {
  if (job.job.empty()) return InvalidArgument("name of the job: got none, wanted one");
  LW_RETURN_IF_ERROR(CheckLength("name", job.job, kJobNameBytesMax));
  LW_RETURN_IF_ERROR(CheckLength("sync", job.sync, kJobSpecBytesMax));
  LW_RETURN_IF_ERROR(CheckLength("apply", job.apply, kJobSpecBytesMax));
  LW_RETURN_IF_ERROR(CheckLength("pull", job.pull, kJobSpecBytesMax));
  LW_RETURN_IF_ERROR(CheckLength("exchange", job.exchange, kJobSpecBytesMax));
  LW_RETURN_IF_ERROR(CheckLength("placement", job.placement, kJobSpecBytesMax));
  if (job.flush_bytes == 0) return InvalidArgument("flush_bytes of the job: got 0, wanted at least 1");
  if (job.pull_at != "ready" && job.pull_at != "clock") {
    return InvalidArgument("pull_at of the job: got \"{}\", wanted ready or clock", job.pull_at);
  }
  LW_RETURN_IF_ERROR(CheckCount("workers", job.workers));
  LW_RETURN_IF_ERROR(CheckCount("servers", job.servers));
  LW_RETURN_IF_ERROR(CheckCount("shards per server", job.shards));
  return CheckCount("shards in all", std::uint64_t{job.servers} * job.shards);
}

Status CheckPatience(const SchedulerOptions& options) {
  if (options.gather_timeout.count() <= 0) {
    return InvalidArgument("gather_timeout: got {} ms, wanted more than 0", options.gather_timeout.count());
  }
  if (options.suspect_after < options.link.beat || options.expel_after < options.suspect_after) {
    return InvalidArgument(
        "got beat {} ms, suspect_after {} ms, expel_after {} ms, wanted them in ascending order",
        options.link.beat.count(), options.suspect_after.count(), options.expel_after.count());
  }
  if (options.job.block_bytes > options.link.payload_bytes_max) {
    return InvalidArgument("block_bytes: got {}, wanted at most the payload limit of a frame, {}",
                           options.job.block_bytes, options.link.payload_bytes_max);
  }
  return Status::Ok();
}

Status CheckTraining(const std::string& job, bool over, const Membership& members,
                     const TableRegistry& tables) {
  if (over) return FailedPrecondition("the job \"{}\" is over", job);
  if (!members.gathered())
    return FailedPrecondition("the job \"{}\" has not begun: missing {}", job, members.Missing());
  if (tables.all().empty()) return FailedPrecondition("the job \"{}\" has no tables yet", job);
  return Status::Ok();
}

Status CheckCheckpoint(const std::string& job, bool writes_checkpoints, bool over, const Membership& members,
                       const TableRegistry& tables) {
  if (!writes_checkpoints) {
    return FailedPrecondition(
        "the job \"{}\" writes no checkpoints: its scheduler was started without --checkpoint-dir", job);
  }
  Status may = CheckTraining(job, over, members, tables);
  // A code of its own: another try may find the tables there, and one at the end of the job does not.
  return may.ok() || over ? may : NotFound("{}", may.message());
}

void FillJob(const JobOptions& job, wire::pb::Job& out) {
  out.set_job(job.job);
  out.set_workers(job.workers);
  out.set_servers(job.servers);
  out.set_shards(job.shards);
  out.set_sync(job.sync);
  out.set_apply(job.apply);
  out.set_placement(job.placement);
  out.set_block_bytes(job.block_bytes);
  out.set_seed(job.seed);
  out.set_pull(job.pull);
  out.set_exchange(job.exchange);
  out.set_no_overlap(!job.overlap);
  out.set_no_priorities(!job.priorities);
  out.set_pull_at_clock(job.pull_at == "clock");
  // A log of the time before this option has none either, and goes on with the default.
  if (job.flush_bytes != JobOptions{}.flush_bytes) out.set_flush_bytes(job.flush_bytes);
}

Status CheckSameJob(const DecodedLog& log, const JobOptions& job) {
  wire::pb::Job options;
  FillJob(job, options);
  LW_RETURN_IF_ERROR(CheckSame("name", log.job, job.job));
  return CheckSameOptions(log.records.front().job(), options);
}

}  // namespace leeway
