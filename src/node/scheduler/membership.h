// Membership: who takes part in the job. Gathers workers and shards, gives ranks and incarnations, notes who
// is connected, who is silent, who left and who died, and builds the roster.
//
// A life is one process life: the 64 bits it drew at its start. A repeated hello of a life finds its own seat
// again; another life never takes a seat that is taken, except one without a connection while the job gathers
// (a process that crashed and was started again). Pure state, told of events by the scheduler node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "wire/control.pb.h"

namespace leeway {

enum class WorkerState : std::uint8_t { kAwaited, kJoined, kSuspect, kLeft, kDead };
// "joined", ...
[[nodiscard]] const char* WorkerStateName(WorkerState state);

struct WorkerSeat {
  WorkerId rank;
  Incarnation incarnation;  // lives that had this seat so far
  std::uint64_t life = 0;
  WorkerState state = WorkerState::kAwaited;
  Iteration first{0};
  ConnectionId connection;  // 0: not connected
  TimePoint last_heard;
  Epoch left_at;      // of one that left
  bool done = false;  // said goodbye, or was given up, after it left
  std::string host;
  std::uint64_t pid = 0;

  // Counted by blocks, barriers and pools.
  [[nodiscard]] bool live() const { return state == WorkerState::kJoined || state == WorkerState::kSuspect; }
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
  std::vector<WorkerId> suspected;  // since the last look
  std::vector<WorkerId> expelled;   // silent for expel_after
  std::vector<ShardId> lost;
};

class Membership {
 public:
  explicit Membership(const JobOptions& job);

  // What a seat was given to: `older` is the connection that this one replaces, 0 if none.
  template <typename Seat>
  struct Admission {
    Seat& seat;
    ConnectionId older;
  };
  [[nodiscard]] Result<Admission<WorkerSeat>> AdmitWorker(const wire::pb::Hello& hello, ConnectionId id,
                                                          TimePoint now);
  [[nodiscard]] Result<Admission<ShardSeat>> AdmitShard(const wire::pb::Hello& hello, ConnectionId id,
                                                        TimePoint now);
  // While gathering: the seat is free again.
  void Free(WorkerSeat& seat);
  void Free(ShardSeat& seat);

  // All workers and shards that the job starts with are here, and connected: a job does not begin with a
  // process that crashed while it gathered.
  [[nodiscard]] bool Complete() const;
  [[nodiscard]] bool gathered() const { return roster_epoch_ != Epoch{}; }
  // REQUIRES: Complete().
  void Gather(Epoch epoch);
  // "workers 1, 3 and shard 0 of server 1"; empty when complete.
  [[nodiscard]] std::string Missing() const;

  // A live member leaves all counts from `epoch` on. REQUIRES: gathered().
  void Leave(WorkerSeat& seat, Epoch epoch);
  void Die(WorkerSeat& seat, Epoch epoch);

  // The scheduler itself stood still for `pause`, up to now: nobody could be heard.
  void Forgive(Duration pause, TimePoint now);
  // Compares every last_heard with now. A suspect that was heard again is joined again.
  [[nodiscard]] Silence Review(TimePoint now, Duration suspect_after, Duration expel_after);

  [[nodiscard]] std::vector<WorkerId> Live() const;
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
  // Taken while gathering, and its life has lost its connection: a new life need not wait for its end.
  [[nodiscard]] bool IsDeserted(const WorkerSeat& seat) const {
    return !gathered() && seat.live() && seat.connection == ConnectionId{};
  }

  std::vector<WorkerSeat> workers_;  // by rank
  std::vector<ShardSeat> shards_;    // by shard id
  Epoch roster_epoch_;               // 0: still gathering
};

}  // namespace leeway
