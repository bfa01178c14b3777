// SyncModel: decides when a block answers a pull, and when it advances to its next iteration. One file per
// model in src/sync/.
//
// Models are stateless. Memory holds the state that a model keeps per block; it moves and is checkpointed
// with the block. Thread rule: the block's shard calls a model on the shard's thread. The conditions follow
// FluentPS, Table III; docs/glossary.md explains the words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway {

// The members of a block and their progress. Each call is O(1) or O(log N).
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  // Counts members whose contribution to, or absence from, iteration i has arrived. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t CountAt(Iteration i) const = 0;
  // Counts members with first <= i < last. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t MembersAt(Iteration i) const = 0;
  // The highest iteration that this member has sent; first - 1 before its first; nullopt for a stranger.
  [[nodiscard]] virtual std::optional<Iteration> ProgressOf(WorkerId worker) const = 0;
  // The highest and the lowest progress of live members; -1 if no member lives.
  [[nodiscard]] virtual Iteration Fastest() const = 0;
  [[nodiscard]] virtual Iteration Slowest() const = 0;
  // A live member's own pace: the time between its last two pushes, without the time that its pull waited
  // here between them (for a member that waits for its pulls). nullopt before its second push.
  [[nodiscard]] virtual std::optional<Duration> PushInterval(WorkerId worker) const = 0;
  // The live member whose contribution made the block advance last, and the first one to send the highest
  // iteration. nullopt before the first such event, and once that member is gone.
  [[nodiscard]] virtual std::optional<WorkerId> LastSlowest() const = 0;
  [[nodiscard]] virtual std::optional<WorkerId> LastFastest() const = 0;
  // Counts contributions and absences since the last advance, for any iteration (models that sum ahead).
  [[nodiscard]] virtual std::uint32_t TakenSinceAdvance() const = 0;
};

struct SyncView {
  TimePoint now;
  Iteration v_train;
  TimePoint advanced_at;  // the block came to v_train, or was created
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

// The behaviour that a model asks of workers.
struct WorkerRule {
  // The worker continues in max(progress + 1, the lowest v_train that it knows). It does not send gradients
  // that it knows to be late.
  bool skips_ahead = false;
  // The worker begins iteration i once all its pushes up to i - d - 1 have verdicts (bounded:d).
  std::optional<std::int64_t> unsettled_max = {};
  // The worker uses its present values while their v_train >= iteration - s, and only then pulls newer ones
  // (ssptable:s).
  std::optional<std::int64_t> cache_age_max = {};
  friend bool operator==(const WorkerRule&, const WorkerRule&) = default;
};

class SyncModel {
 public:
  virtual ~SyncModel() = default;
  // Decides whether to answer a pull now. From v_train on, `progress` and the progress of all members in the
  // view count the block's own iterations: they leave out iterations in which another optimizer steps.
  virtual PullVerdict OnPull(const SyncView& view, Memory& memory, WorkerId worker,
                             Iteration progress) const = 0;
  // Decides whether the block advances. Progress in the view follows the job's clock.
  virtual Advance MayAdvance(const SyncView& view, Memory& memory) const = 0;
  // The most iterations that a pushing worker may be ahead of v_train, under lazy and soft release; nullopt
  // if unbounded. Aggregate needs a window above it.
  [[nodiscard]] virtual std::optional<std::int64_t> Lead() const = 0;
  // The apply mode of a table that names none.
  [[nodiscard]] virtual const char* DefaultApply() const = 0;
  // True: the block adds a push of a later iteration to the sum of v_train, and MayAdvance looks at
  // TakenSinceAdvance. Needs aggregate.
  [[nodiscard]] virtual bool SumsAhead() const { return false; }
  // The job refuses the model if it has fewer workers.
  [[nodiscard]] virtual std::uint32_t WorkersNeeded() const { return 1; }
  [[nodiscard]] virtual WorkerRule ForWorker() const { return {}; }
  // Tries the model on states that jobs reach, and reports a fault. Called when a spec is set, not when it is
  // used, because it may take milliseconds. A model that cannot be wrong tries nothing.
  [[nodiscard]] virtual Status Try() const { return Status::Ok(); }
  // The two conditions for people, as in Table III: "progress < v_train + 3".
  [[nodiscard]] virtual std::string PullCondition() const = 0;
  [[nodiscard]] virtual std::string PushCondition() const = 0;
};

using SyncModelPtr = std::unique_ptr<SyncModel>;

}  // namespace leeway
