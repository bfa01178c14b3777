// Checkpoints: when the job writes one, in which iteration it is cut, and how far it has come.
//
// A cut every so many iterations is named as soon as the one before is whole, so that the shards know of it
// long before they come to it. Where a table applies pushes at once, no moment is the same for all blocks,
// and blocks come to an iteration with the slowest worker. There a cut begins when the fastest worker has
// come so far. Such a cut, and a cut by request or by time, is named a little above the fastest worker. The
// fastest worker moves on before the shards hear of the cut, so a shard may be past it. Then the next cut is
// named with more room. One checkpoint at a time. Pure state, told of events by its owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "node/scheduler/rank_states.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class Checkpoints {
 public:
  Checkpoints(const CheckpointOptions& options, std::size_t shards);

  [[nodiscard]] bool enabled() const { return !options_.folder.empty(); }
  // The first one gets this id, or a higher one that the log knows; iterations and time count from here.
  void Start(std::uint64_t next, Iteration now_at, TimePoint now);
  // One is wanted now, whatever the options say.
  void Ask() { asked_ = true; }
  // The kind of moment at which this job is cut; its tables decide.
  using Moment = RankStates::Moment;
  // Whether to begin one now. It may replace a cut that no worker has come to yet.
  [[nodiscard]] bool IsDue(Iteration fastest, Moment moment, TimePoint now) const;

  // Begins one, in place of one that is under way. REQUIRES: enabled.
  const wire::pb::Cut& Begin(Iteration fastest, Moment moment, TimePoint now);
  // Whether the shards may hear of the one under way. Where blocks are taken at once, every worker gives its
  // state first, so that no block lacks a push that a state knows of.
  [[nodiscard]] bool told() const { return told_; }
  void Tell() { told_ = true; }
  // The cut for a shard that has not answered yet; null if it has answered, or may not hear yet.
  [[nodiscard]] const wire::pb::Cut* OpenFor(ShardId shard) const;
  // No worker has come to the one under way yet. REQUIRES: under_way().
  [[nodiscard]] bool IsAhead(Iteration fastest) const;
  [[nodiscard]] bool under_way() const { return cut_.has_value(); }
  [[nodiscard]] const wire::pb::Cut& cut() const { return *cut_; }

  enum class Step : std::uint8_t { kWait, kTooLate, kWritten, kFailed };
  // An answer of a shard; one to another checkpoint changes nothing.
  [[nodiscard]] Step Take(ShardId shard, const wire::pb::CutReply& reply);
  [[nodiscard]] const std::map<ShardId, wire::pb::CutReply>& replies() const { return replies_; }
  [[nodiscard]] bool written() const { return cut_ && replies_.size() == shards_; }
  // A member is in iteration `reached` already, beyond the one under way: drops it.
  void TooLate(Iteration reached);
  // Drops the one under way. The next one is due as it was.
  void Drop() { cut_.reset(); }
  // Whether the one under way has taken too long since the workers came to it.
  [[nodiscard]] bool IsOverdue(Iteration fastest, TimePoint now);
  // All members have written their part. The manifest has the whole limit again.
  void Publish(TimePoint now);
  [[nodiscard]] bool publishing() const { return cut_ && published_from_.has_value(); }

  // The one under way is over: it is whole, with `iteration` in its manifest, or given up for `why`.
  void Complete(Iteration iteration, TimePoint now);
  void GiveUp(const std::string& why, TimePoint now);

  // For status.
  struct Last {
    std::uint64_t checkpoint = 0;
    Iteration iteration{-1};
    std::string folder;
    TimePoint at{};  // it became whole; nothing when that was before this process
  };
  [[nodiscard]] const std::optional<Last>& last() const { return last_; }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }
  [[nodiscard]] const std::string& last_failure() const { return failure_; }

  // The log: the ids that were given out, and the last checkpoint that is whole. AddChanges adds them if they
  // have changed since the last call; Apply puts a record into a new object. A checkpoint under way is not
  // logged, nor are those that were given up.
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  // The folders in which this job's newest whole checkpoint may be, the newest first. A checkpoint may have
  // been published, and others pruned, after the last record of the log. At most kCandidatesMax, and the one
  // that the log knows: all in between were given up.
  static constexpr std::uint64_t kCandidatesMax = 64;
  [[nodiscard]] std::vector<std::string> Candidates() const;
  void Apply(const wire::pb::LogRecord& record);

 private:
  // By request, by time, or by the fastest worker.
  [[nodiscard]] bool IsWanted(Iteration fastest, Moment moment, TimePoint now) const;

  const CheckpointOptions options_;
  const std::size_t shards_;
  std::uint64_t next_ = 1;
  std::uint64_t first_ = 0;  // id that this job may have used; 0: not started
  std::optional<wire::pb::Cut> cut_;
  bool told_ = false;
  std::map<ShardId, wire::pb::CutReply> replies_;
  std::int64_t room_;          // of the next cut above the fastest
  Iteration reached_{-1};      // the highest that a shard said it is in
  Iteration counted_from_{0};  // iterations since here
  Iteration counts_as_{0};     // the one under way, for the next one
  TimePoint timed_from_;
  std::optional<TimePoint> reached_at_;      // the one under way is being written since
  std::optional<TimePoint> published_from_;  // its manifest is being written since
  bool asked_ = false;
  std::optional<Last> last_;
  std::uint64_t completed_ = 0, given_up_ = 0;
  std::string failure_;
  std::uint64_t logged_next_ = 1, logged_last_ = 0, logged_given_up_ = 0;  // as at the last AddChanges
};

}  // namespace leeway
