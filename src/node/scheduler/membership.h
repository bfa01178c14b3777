// Membership: who takes part in the job. Gathers workers and shards, gives ranks and incarnations, notes who
// is connected, who is silent, who left and who died, and builds the roster.
//
// A life is one process life: the 64 bits it drew at its start. A repeated hello of a life finds its own seat
// again. Another life takes a seat that is free, or whose life is over or has lost its connection (a process
// that crashed and was started again): under the next incarnation, so that whatever the old one still sends
// is fenced. One that comes after the job has begun enters it: it is in the counts from the epoch of its
// entry on, and begins where the shards say. Pure state, told of events by the scheduler node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "wire/control.pb.h"

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
  Epoch left_at;      // of one that left
  bool done = false;  // said goodbye, or was given up, after it left
  std::string host;
  std::uint64_t pid = 0;

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
  bool done = false;  // said goodbye, or was given up
};

// Who has been silent for too long.
struct Silence {
  std::vector<WorkerId> suspected;   // since the last look
  std::vector<WorkerId> expelled;    // silent for expel_after
  std::vector<WorkerId> unreplaced;  // lost, and nobody has come in its place within replace_within
  std::vector<ShardId> lost;
};

struct Patience {
  Duration suspect_after, expel_after, replace_within;
};

class Membership {
 public:
  explicit Membership(const JobOptions& job);

  // What a seat was given to: `older` is the connection that this one replaces, 0 if none; `fresh` that the
  // life had no seat before.
  template <typename Seat>
  struct Admission {
    Seat& seat;
    ConnectionId older;
    bool fresh = false;
  };
  [[nodiscard]] Result<Admission<WorkerSeat>> AdmitWorker(const wire::pb::Hello& hello, ConnectionId id,
                                                          TimePoint now);
  [[nodiscard]] Result<Admission<ShardSeat>> AdmitShard(const wire::pb::Hello& hello, ConnectionId id,
                                                        TimePoint now);
  // The job goes on where one before ended: all begin in `start`, and every life is of a higher incarnation
  // than those of before. REQUIRES: nobody is here.
  void Resume(Iteration start, std::span<const Incarnation> incarnations);
  // While gathering: the seat is free again.
  void Free(WorkerSeat& seat);
  void Free(ShardSeat& seat);

  // All workers and shards that the job starts with are here, and connected: a job does not begin with a
  // process that crashed while it gathered.
  [[nodiscard]] bool Complete() const;
  [[nodiscard]] Iteration start() const { return start_; }  // where the job begins
  [[nodiscard]] bool gathered() const { return roster_epoch_ != Epoch{}; }
  // Enough to begin without the others: `workers` of them, and all shards.
  [[nodiscard]] bool Suffices(std::uint32_t workers) const;
  // The job begins with those who are here. REQUIRES: Complete() or Suffices().
  void Gather(Epoch epoch);
  // A life that came after the job had begun is in the counts from `epoch` on, from about `first` on.
  // REQUIRES: live.
  void Enter(WorkerSeat& seat, Epoch epoch, Iteration first);
  // A shard has said where its blocks count a joining member from.
  void TakeFirst(const wire::pb::First& first);
  // "workers 1, 3 and shard 0 of server 1"; empty when complete.
  [[nodiscard]] std::string Missing() const;

  // A live member leaves all counts from `epoch` on. REQUIRES: gathered().
  void Leave(WorkerSeat& seat, Epoch epoch);
  void Die(WorkerSeat& seat, Epoch epoch);
  // Its life is over; its place in the counts is kept.
  void Lose(WorkerSeat& seat, TimePoint now);

  // The scheduler itself stood still for `pause`, up to now: nobody could be heard.
  void Forgive(Duration pause, TimePoint now);
  // Compares every last_heard with now. A suspect that was heard again is joined again.
  [[nodiscard]] Silence Review(TimePoint now, const Patience& patience);

  [[nodiscard]] std::vector<WorkerId> Counted() const;
  [[nodiscard]] std::uint32_t LiveCount() const;
  // Everyone has left or died, and those that left need nothing more.
  [[nodiscard]] bool AllDone() const;
  [[nodiscard]] bool AnyLeft() const;

  [[nodiscard]] std::vector<WorkerSeat>& workers() { return workers_; }
  [[nodiscard]] std::vector<ShardSeat>& shards() { return shards_; }
  [[nodiscard]] const std::vector<WorkerSeat>& workers() const { return workers_; }
  [[nodiscard]] const std::vector<ShardSeat>& shards() const { return shards_; }
  // Members and shards as of the last change of membership.
  [[nodiscard]] wire::pb::Roster BuildRoster() const;

 private:
  [[nodiscard]] Result<WorkerSeat*> SeatFor(const wire::pb::Hello& hello);
  // A new life that asks for just this rank may have it: whoever had it has no connection (any more).
  [[nodiscard]] static bool IsFree(const WorkerSeat& seat) { return seat.connection == ConnectionId{}; }
  // A new life that asks for any rank may have it. One that lost its connection may still come back to a
  // running job.
  [[nodiscard]] bool IsVacant(const WorkerSeat& seat) const {
    if (seat.live()) return !gathered() && seat.connection == ConnectionId{};
    return seat.state != WorkerState::kLeft;
  }

  Iteration start_{0};               // where the job begins
  std::vector<WorkerSeat> workers_;  // by rank
  std::vector<ShardSeat> shards_;    // by shard id
  Epoch roster_epoch_;               // 0: still gathering
};

}  // namespace leeway
