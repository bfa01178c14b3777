// SyncModel: when a pull is answered and when a block goes on to its next iteration. One file per model in
// src/sync/.
//
// Models are stateless; what one must remember of a block is in Memory, which moves and is checkpointed with
// the block. Asked on the thread of the block's shard. The conditions follow FluentPS, Table III;
// docs/glossary.md has the words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway {

// What a block knows of its members. Each question is O(1) or O(log N).
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  // Members whose contribution to (or absence from) iteration i is here. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t CountAt(Iteration i) const = 0;
  // Members that count for iteration i: first <= i < last. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t MembersAt(Iteration i) const = 0;
  // The highest iteration this member has sent; first - 1 before its first; nothing for a stranger.
  [[nodiscard]] virtual std::optional<Iteration> ProgressOf(WorkerId worker) const = 0;
  // Highest and lowest progress of live members; -1 with none.
  [[nodiscard]] virtual Iteration Fastest() const = 0;
  [[nodiscard]] virtual Iteration Slowest() const = 0;
  // A live member's own pace: the time between its last two pushes, less what its pull was held up here
  // between them (of one that waits for its pulls); nothing before its second.
  [[nodiscard]] virtual std::optional<Duration> PushInterval(WorkerId worker) const = 0;
  // The live member whose contribution let the block advance last, and the one that was the first to send the
  // highest iteration; nothing before there was one, or when it has gone.
  [[nodiscard]] virtual std::optional<WorkerId> LastSlowest() const = 0;
  [[nodiscard]] virtual std::optional<WorkerId> LastFastest() const = 0;
  // Contributions and absences taken since the last advance, whatever their iteration (models that sum
  // ahead).
  [[nodiscard]] virtual std::uint32_t TakenSinceAdvance() const = 0;
};

struct SyncView {
  TimePoint now;
  Iteration v_train;
  TimePoint advanced_at;  // the block came to v_train, or to be
  const ProgressView& progress;
  double significance = 1.0;  // of the pulling worker; 1 when unknown
  double coin = 1.0;  // in (0, 1], a hash of (seed, scope, worker, progress); the same when asked again

  [[nodiscard]] std::uint32_t CountAt(Iteration i) const { return progress.CountAt(i); }
  [[nodiscard]] std::uint32_t MembersAt(Iteration i) const { return progress.MembersAt(i); }
};

using Memory = std::string;  // a few bytes, or a few for each worker (dssp)

enum class PullVerdict : std::uint8_t { kNow, kLater };

// Whether a block may advance: yes, no (ask again after the next event), or not before a time.
struct Advance {
  enum class Kind : std::uint8_t { kYes, kNo, kAt } kind = Kind::kNo;
  TimePoint at{};
  static Advance Yes() { return {Kind::kYes, {}}; }
  static Advance No() { return {Kind::kNo, {}}; }
  static Advance At(TimePoint when) { return {Kind::kAt, when}; }
};

// What a worker does by itself with the blocks of a model.
struct WorkerRule {
  // It goes on in max(progress + 1, the lowest v_train it was told), and does not send what it knows to be
  // late.
  bool skips_ahead = false;
  // It begins iteration i when all its pushes up to i - d - 1 have verdicts (bounded:d).
  std::optional<std::int64_t> unsettled_max = {};
  // It uses what it holds while that is of v_train >= iteration - s, and asks for newer values only then
  // (ssptable:s).
  std::optional<std::int64_t> cache_age_max = {};
  friend bool operator==(const WorkerRule&, const WorkerRule&) = default;
};

class SyncModel {
 public:
  virtual ~SyncModel() = default;
  // From v_train on, `progress` and the progress of all members in the view count the block's own iterations:
  // those in which another optimizer steps are left out.
  virtual PullVerdict OnPull(const SyncView& view, Memory& memory, WorkerId worker,
                             Iteration progress) const = 0;
  // Progress in the view is by the job's clock.
  virtual Advance MayAdvance(const SyncView& view, Memory& memory) const = 0;
  // The most iterations a worker may be ahead of v_train when it pushes, if bounded, under lazy and under
  // soft release: aggregate needs a window above it.
  [[nodiscard]] virtual std::optional<std::int64_t> Lead() const = 0;
  // The apply mode when the user names none.
  [[nodiscard]] virtual const char* DefaultApply() const = 0;
  // A push of an iteration beyond v_train is summed into v_train's, and MayAdvance looks at
  // TakenSinceAdvance. Needs aggregate.
  [[nodiscard]] virtual bool SumsAhead() const { return false; }
  // A job with fewer workers cannot have it.
  [[nodiscard]] virtual std::uint32_t WorkersNeeded() const { return 1; }
  [[nodiscard]] virtual WorkerRule ForWorker() const { return {}; }
  // Tries the model on states that jobs come to, and says what is wrong with it. Asked where a spec is set,
  // not where it is used: it may take milliseconds. A model that cannot be wrong has nothing to try.
  [[nodiscard]] virtual Status Try() const { return Status::Ok(); }
  // For people, as in Table III: "progress < v_train + 3".
  [[nodiscard]] virtual std::string PullCondition() const = 0;
  [[nodiscard]] virtual std::string PushCondition() const = 0;
};

using SyncModelPtr = std::unique_ptr<SyncModel>;

}  // namespace leeway
