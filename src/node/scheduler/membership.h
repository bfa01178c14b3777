// Membership: the members of the job. Gathers workers and shards, gives ranks and incarnations, notes which
// members are connected, silent, gone or dead, and builds the roster.
//
// A life is one process life: the 64 bits it drew at its start. A repeated hello of a life finds its own seat
// again. Another life takes a seat that is free, or whose life is over or has lost its connection (a process
// that crashed and was started again). It gets the next incarnation, so that frames of the old life are
// fenced. A life that comes after the job has begun enters it. It is in the counts from the epoch of its
// entry on, and begins where the shards say. Pure state, told of events by the scheduler node.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

enum class WorkerState : std::uint8_t {
  kAwaited,
  kJoined,
  kSuspect,
  kLost,  // its life is over, and its place in the counts is kept for the next
  kLeft,
  kDead,
};
// "joined", ...
[[nodiscard]] const char* WorkerStateName(WorkerState state);

struct WorkerSeat {
  WorkerId rank;
  Incarnation incarnation;  // lives that had this seat so far
  std::uint64_t life = 0;
  WorkerState state = WorkerState::kAwaited;
  Iteration first{0};
  Epoch entered;                            // came after the job had begun, with this epoch
  bool joining = false;                     // entered, and not every shard has said where it begins
  std::map<TableId, Iteration> own_firsts;  // where it begins in tables with clocks of their own, if not at 0
  ConnectionId connection;                  // 0: not connected
  TimePoint last_heard;
  Iteration settled{0};   // every push of the life below it has its verdict, as far as the worker has said
  Epoch left_at;          // of one that left
  bool finished = false;  // left because its data had ended
  bool done = false;      // said goodbye, or was given up, after it left
  std::string host;
  std::uint64_t pid = 0;
  std::optional<std::chrono::milliseconds> wait_max{};  // its own limit; nothing: the job's
  std::string ended_because;                            // of one that is lost or dead

  // Has a life that takes part.
  [[nodiscard]] bool live() const { return state == WorkerState::kJoined || state == WorkerState::kSuspect; }
  // Where one that came to the running job began.
  [[nodiscard]] std::optional<Iteration> Began() const {
    return entered == Epoch{} ? std::nullopt : std::optional(first);
  }
  // In the counts of blocks and barriers.
  [[nodiscard]] bool counted() const { return live() || state == WorkerState::kLost; }
};

struct ShardSeat {
  ShardId id;
  ServerId server;
  std::uint32_t shard = 0;  // which of its server
  bool taken = false;
  std::uint64_t life = 0;
  std::string address;
  ConnectionId connection;
  TimePoint last_heard;
  bool done = false;      // said goodbye, or was given up
  bool awaited = false;   // its process is gone, and another is waited for
  bool replaced = false;  // by one that has not been told yet what it owns
};

// Members that have been silent for too long.
struct Silence {
  std::vector<WorkerId> suspected;         // since the last look
  std::vector<WorkerId> expelled;          // silent for expel_after
  std::vector<WorkerId> unreplaced;        // lost, and nobody has come in its place within replace_within
  std::vector<ShardId> lost;               // silent for expel_after
  std::vector<ShardId> unreplaced_shards;  // awaited for replace_within
};

struct Patience {
  Duration suspect_after, expel_after, replace_within;
};

class Membership {
 public:
  explicit Membership(const JobOptions& job);

  // A life has a seat. `older` is the connection that this one replaces, or 0. `fresh`: the life had no seat
  // before.
  template <typename Seat>
  struct Admission {
    Seat& seat;
    ConnectionId older;
    bool fresh = false;
    std::optional<Seat> former = {};  // of a fresh one: the seat as the life before left it
  };
  [[nodiscard]] Result<Admission<WorkerSeat>> AdmitWorker(const wire::pb::Hello& hello, ConnectionId id,
                                                          TimePoint now);
  // The seat that a shard may have; nothing changes before it is seated. A shard that lost its connection
  // less than `grace` ago may be on its way back.
  [[nodiscard]] Result<Admission<ShardSeat>> FindShard(const wire::pb::Hello& hello, TimePoint now,
                                                       Duration grace);
  void Seat(ShardSeat& seat, const wire::pb::Hello& hello, ConnectionId id, TimePoint now);
  // Another life has the seat, from `epoch` on. REQUIRES: gathered().
  void Replace(ShardSeat& seat, Epoch epoch);
  // The job goes on where one before ended: rank r begins with begins[r], a rank beyond those with `start`,
  // and every life is of a higher incarnation than those of before. REQUIRES: nobody is here.
  void Resume(Iteration start, std::span<const Incarnation> incarnations, std::span<const Iteration> begins);
  // Where the states are that the ranks gave to that checkpoint; of ranks without one the file is empty. A
  // worker that is there when the job begins gets its own.
  void Restore(std::vector<wire::pb::RankRestore> restores) { restores_ = std::move(restores); }
  // While gathering: the seat is free again.
  void Free(WorkerSeat& seat);
  void Free(ShardSeat& seat);

  // All workers and shards that the job starts with are here, and connected: a job does not begin with a
  // process that crashed while it gathered.
  [[nodiscard]] bool Complete() const;
  [[nodiscard]] Iteration start() const { return start_; }  // where the job begins
  // The job goes on from a checkpoint. Under a fuzzy one a slow rank may begin in iteration 0 all the same.
  [[nodiscard]] bool IsResumed() const { return start_ > Iteration(0) || !begins_.empty(); }
  [[nodiscard]] bool gathered() const { return roster_epoch_ != Epoch{}; }
  // Enough members to begin without the others: `workers` workers, and all shards.
  [[nodiscard]] bool Suffices(std::uint32_t workers) const;
  // The job begins with the members that are here. REQUIRES: Complete() or Suffices().
  void Gather(Epoch epoch);
  // A life that came after the job had begun is in the counts from `epoch` on, from about `first` on.
  // REQUIRES: live.
  void Enter(WorkerSeat& seat, Epoch epoch, Iteration first);
  // A shard has said where its blocks count a joining member from.
  void TakeFirst(const wire::pb::First& first);
  // "workers 1, 3 and shard 0 of server 1"; empty when complete.
  [[nodiscard]] std::string Missing() const;

  // A live member leaves all counts from `epoch` on: finished, or while others can still take its work over.
  // REQUIRES: gathered().
  void Leave(WorkerSeat& seat, Epoch epoch, bool finished);
  void Die(WorkerSeat& seat, Epoch epoch);
  // Its life is over; its place in the counts is kept.
  void Lose(WorkerSeat& seat, TimePoint now);

  // Everyone counts as heard of now.
  void HearAll(TimePoint now);
  // The scheduler itself stood still for `pause`, up to now: nobody could be heard.
  void DiscountPause(Duration pause, TimePoint now);
  // Compares every last_heard with now. A suspect that was heard again is joined again.
  [[nodiscard]] Silence Review(TimePoint now, const Patience& patience);

  [[nodiscard]] std::vector<WorkerId> Counted() const;
  [[nodiscard]] std::uint32_t LiveCount() const;
  // Every worker has left or died, and the ones that left need nothing more.
  [[nodiscard]] bool AllDone() const;
  [[nodiscard]] bool AnyLeft() const;

  [[nodiscard]] std::vector<WorkerSeat>& workers() { return workers_; }
  [[nodiscard]] std::vector<ShardSeat>& shards() { return shards_; }
  [[nodiscard]] const std::vector<WorkerSeat>& workers() const { return workers_; }
  [[nodiscard]] const std::vector<ShardSeat>& shards() const { return shards_; }
  // Members and shards as of the last change of membership.
  [[nodiscard]] wire::pb::Roster BuildRoster() const;

  // The log (membership_log.cc). AddChanges adds all changes since the last call, and says whether there are
  // any; Apply puts records into a new object. Nobody is connected then, and everybody counts as heard of
  // now.
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  [[nodiscard]] Status Apply(const wire::pb::LogRecord& record, TimePoint now);

 private:
  void FillMembership(wire::pb::LoggedMembership& out) const;
  [[nodiscard]] Result<WorkerSeat*> SeatFor(const wire::pb::Hello& hello);
  // A new life that asks for just this rank may have it: the life before has no connection.
  [[nodiscard]] static bool IsFree(const WorkerSeat& seat) { return seat.connection == ConnectionId{}; }
  // A new life that asks for any rank may have it. A life that lost its connection may still come back to a
  // running job.
  [[nodiscard]] bool IsVacant(const WorkerSeat& seat) const {
    if (seat.live()) return !gathered() && seat.connection == ConnectionId{};
    return seat.state != WorkerState::kLeft;
  }

  [[nodiscard]] Iteration BeginOf(WorkerId rank) const {
    return rank.index() < begins_.size() ? begins_[rank.index()] : start_;
  }

  Iteration start_{0};                           // where the job begins
  std::vector<Iteration> begins_;                // by rank, where that differs
  std::vector<wire::pb::RankRestore> restores_;  // by rank
  std::vector<WorkerSeat> workers_;              // by rank
  std::vector<ShardSeat> shards_;                // by shard id
  Epoch roster_epoch_;                           // 0: still gathering

  // As they were at the last AddChanges.
  std::vector<WorkerSeat> logged_workers_;
  std::vector<ShardSeat> logged_shards_;
  Epoch logged_roster_epoch_;
  Iteration logged_start_{0};
};

}  // namespace leeway
