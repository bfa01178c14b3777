#include "node/scheduler/membership.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/mutation.h"
#include "base/printable.h"

namespace leeway {
namespace {

// A host name has at most 255 bytes.
constexpr std::size_t kNameBytesMax = 262;
// A year: longer than any wait and far from overflow.
constexpr std::uint64_t kWaitMaxMsMax = 365ULL * 24 * 3'600'000;

// ` (worker-3.local, process 812)`, as far as known.
std::string Whereabouts(const WorkerSeat& seat) {
  if (seat.host.empty() && seat.pid == 0) return "";
  return fmt::format(" ({}, process {})", seat.host.empty() ? "unknown host" : seat.host, seat.pid);
}

bool IsHere(const WorkerSeat& seat) {
  return seat.state != WorkerState::kAwaited && seat.connection != ConnectionId{};
}
bool IsHere(const ShardSeat& seat) { return seat.taken && seat.connection != ConnectionId{}; }

}  // namespace

const char* WorkerStateName(WorkerState state) {
  switch (state) {
    case WorkerState::kAwaited:
      return "awaited";
    case WorkerState::kJoined:
      return "joined";
    case WorkerState::kSuspect:
      return "suspect";
    case WorkerState::kLost:
      return "lost";
    case WorkerState::kLeft:
      return "left";
    case WorkerState::kDead:
      return "dead";
  }
  return "unknown";
}

Membership::Membership(const JobOptions& job) : workers_(job.workers), shards_(job.servers * job.shards) {
  for (std::uint32_t i = 0; i < workers_.size(); ++i) workers_[i].rank = WorkerId(i);
  for (std::uint32_t i = 0; i < shards_.size(); ++i) {
    shards_[i].id = ShardId(i);
    shards_[i].server = ServerId(i / job.shards);
    shards_[i].shard = i % job.shards;
  }
}

Result<WorkerSeat*> Membership::SeatFor(const wire::pb::Hello& hello) {
  for (WorkerSeat& seat : workers_) {
    if (seat.state == WorkerState::kAwaited || seat.life != hello.life()) continue;
    if (seat.state != WorkerState::kDead && seat.state != WorkerState::kLost) return &seat;
    return Fenced("worker {} incarnation {} was declared dead and cannot come back", seat.rank.value(),
                  seat.incarnation.value());
  }
  if (hello.rank() >= static_cast<std::int64_t>(workers_.size())) {
    return InvalidArgument("rank {}: this job has {} workers, wanted 0 to {}", hello.rank(), workers_.size(),
                           workers_.size() - 1);
  }
  if (gathered() && Counted().empty()) {
    return FailedPrecondition("every worker of the job has left or died; nobody can join it any more");
  }
  if (hello.rank() >= 0) {
    WorkerSeat& seat = workers_[static_cast<std::size_t>(hello.rank())];
    if (IsFree(seat)) return &seat;
    if (!gathered()) {
      return AlreadyExists("rank {} is taken by another live worker{}", hello.rank(), Whereabouts(seat));
    }
    // Its process may have died before its connection said so. The new process asks again, and gets the seat
    // then.
    return Unavailable("rank {} is taken by a worker that is connected{}", hello.rank(), Whereabouts(seat));
  }
  const auto free = std::ranges::find(workers_, WorkerState::kAwaited, &WorkerSeat::state);
  if (free != workers_.end()) return &*free;
  const auto vacant =
      std::ranges::find_if(workers_, [this](const WorkerSeat& seat) { return IsVacant(seat); });
  if (vacant != workers_.end()) return &*vacant;
  return FailedPrecondition("the job has its {} workers already; name a rank to take the place of one",
                            workers_.size());
}

Result<Membership::Admission<WorkerSeat>> Membership::AdmitWorker(const wire::pb::Hello& hello,
                                                                  ConnectionId id, TimePoint now) {
  LW_ASSIGN_OR_RETURN(WorkerSeat* const seat, SeatFor(hello));
  const bool fresh = seat->life != hello.life() || seat->state == WorkerState::kAwaited;
  std::optional<WorkerSeat> former;
  if (fresh) {
    former = *seat;
    // The incarnation rises, so frames of the life before are of a lower one.
    WorkerSeat next;
    next.rank = seat->rank;
    next.incarnation =
        LW_MUTATED(same_incarnation) ? std::max(seat->incarnation, Incarnation(1)) : seat->incarnation + 1;
    next.life = hello.life();
    next.state = WorkerState::kJoined;
    next.connection = seat->connection;
    next.first = BeginOf(seat->rank);
    next.host = Printable(hello.host(), kNameBytesMax);
    next.pid = hello.pid();
    *seat = std::move(next);
  }
  if (hello.has_wait_max_ms()) {
    seat->wait_max = std::chrono::milliseconds(std::min(hello.wait_max_ms(), kWaitMaxMsMax));
  }
  seat->done = false;
  seat->last_heard = now;
  return Admission<WorkerSeat>{*seat, std::exchange(seat->connection, id), fresh, std::move(former)};
}

Result<Membership::Admission<ShardSeat>> Membership::FindShard(const wire::pb::Hello& hello, TimePoint now,
                                                               Duration grace) {
  // Before a shard has a seat: else the job would begin with a server that is about to end.
  const std::uint32_t wanted = shards_.back().shard + 1;
  if (hello.shards() != 0 && hello.shards() != wanted) {
    return InvalidArgument(
        "server {}: got {} {}, wanted {} on each server as in the scheduler's job: start it with --shards {}",
        hello.server(), hello.shards(), hello.shards() == 1 ? "shard" : "shards", wanted, wanted);
  }
  const auto found = std::ranges::find_if(shards_, [&](const ShardSeat& seat) {
    return seat.server.value() == hello.server() && seat.shard == hello.shard();
  });
  if (found == shards_.end()) {
    return InvalidArgument("server {} shard {}: this job has servers 0 to {} with shards 0 to {} each",
                           hello.server(), hello.shard(), shards_.back().server.value(),
                           shards_.back().shard);
  }
  if (hello.listen().empty()) {
    return Protocol("server {} shard {} says not where it listens", hello.server(), hello.shard());
  }
  if (const std::string address = Printable(hello.listen(), kNameBytesMax); address != hello.listen()) {
    return Protocol("server {} shard {} listens at \"{}\", wanted host:port or local:NAME", hello.server(),
                    hello.shard(), address);
  }
  ShardSeat& seat = *found;
  const bool fresh = !seat.taken || seat.life != hello.life();
  if (LW_MUTATED(place_given_away)) return Admission<ShardSeat>{seat, seat.connection, fresh, {}};
  // Its blocks belong to a seat that it does not have any more.
  if (seat.life != hello.life() && hello.incarnation() != 0) {
    return Fenced("server {} shard {}: another process has its place", hello.server(), hello.shard());
  }
  if (seat.taken && fresh && seat.connection != ConnectionId{}) {
    // The process before may have died before its connection said so.
    return Unavailable("server {} shard {} is taken by another process at {}", hello.server(), hello.shard(),
                       seat.address);
  }
  if (seat.taken && fresh && gathered() && !seat.done && !seat.awaited && now - seat.last_heard < grace) {
    return Unavailable("server {} shard {} at {} lost its connection a moment ago, and may come back",
                       hello.server(), hello.shard(), seat.address);
  }
  return Admission<ShardSeat>{seat, seat.connection, fresh, {}};
}

void Membership::Seat(ShardSeat& seat, const wire::pb::Hello& hello, ConnectionId id, TimePoint now) {
  seat.taken = true;
  seat.done = seat.awaited = false;
  seat.life = hello.life();
  seat.address = hello.listen();
  seat.connection = id;
  seat.last_heard = now;
}

void Membership::Resume(Iteration start, std::span<const Incarnation> incarnations,
                        std::span<const Iteration> begins) {
  start_ = start;
  if (std::ranges::any_of(begins, [start](Iteration begin) { return begin != start; }))
    begins_.assign(begins.begin(), begins.end());
  for (std::size_t i = 0; i < std::min(workers_.size(), incarnations.size()); ++i) {
    workers_[i].incarnation = incarnations[i];
  }
}

void Membership::Free(WorkerSeat& seat) {
  LW_CHECK(!gathered(), "worker {}", seat.rank.value());
  // The incarnation stays: the next life of this rank gets a higher one.
  seat.state = WorkerState::kAwaited;
  seat.connection = {};
}

void Membership::Free(ShardSeat& seat) {
  LW_CHECK(!gathered(), "shard {}", seat.id.value());
  seat.taken = false;
  seat.connection = {};
}

bool Membership::Complete() const {
  return std::ranges::all_of(workers_, [](const WorkerSeat& s) { return IsHere(s); }) &&
         std::ranges::all_of(shards_, [](const ShardSeat& s) { return IsHere(s); });
}

bool Membership::Suffices(std::uint32_t workers) const {
  const auto here = std::ranges::count_if(workers_, [](const WorkerSeat& s) { return IsHere(s); });
  return workers > 0 && here >= static_cast<std::ptrdiff_t>(workers) &&
         std::ranges::all_of(shards_, [](const ShardSeat& s) { return IsHere(s); });
}

void Membership::Gather(Epoch epoch) {
  for (WorkerSeat& seat : workers_) {
    if (!IsHere(seat)) Free(seat);
  }
  roster_epoch_ = epoch;
}

void Membership::Enter(WorkerSeat& seat, Epoch epoch, Iteration first) {
  LW_CHECK(gathered() && seat.live(), "worker {} is {}", seat.rank.value(), WorkerStateName(seat.state));
  seat.first = first;
  seat.entered = roster_epoch_ = epoch;
  seat.joining = true;
}

void Membership::TakeFirst(const wire::pb::First& first) {
  if (first.worker() >= workers_.size()) return;
  WorkerSeat& seat = workers_[first.worker()];
  if (!seat.joining || seat.incarnation != Incarnation(first.incarnation())) return;
  Iteration& begins = first.own_clock() ? seat.own_firsts[TableId(first.table())] : seat.first;
  if (!LW_MUTATED(joiner_begins_anywhere)) begins = std::max(begins, Iteration(first.first()));
}

std::string Membership::Missing() const {
  std::vector<std::uint32_t> ranks;
  for (const WorkerSeat& seat : workers_) {
    if (!IsHere(seat)) ranks.push_back(seat.rank.value());
  }
  std::vector<std::string> parts;
  if (!ranks.empty())
    parts.push_back(fmt::format("worker{} {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", ")));
  for (const ShardSeat& seat : shards_) {
    if (!IsHere(seat)) parts.push_back(fmt::format("shard {} of server {}", seat.shard, seat.server.value()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Membership::Replace(ShardSeat& seat, Epoch epoch) {
  LW_CHECK(gathered(), "shard {}", seat.id.value());
  seat.awaited = false;
  seat.replaced = true;
  roster_epoch_ = epoch;
}

void Membership::Leave(WorkerSeat& seat, Epoch epoch, bool finished) {
  LW_CHECK(gathered() && seat.live(), "worker {} is {}", seat.rank.value(), WorkerStateName(seat.state));
  seat.state = WorkerState::kLeft;
  seat.left_at = roster_epoch_ = epoch;
  seat.finished = finished;
}

void Membership::Die(WorkerSeat& seat, Epoch epoch) {
  LW_CHECK(gathered() && seat.counted(), "worker {} is {}", seat.rank.value(), WorkerStateName(seat.state));
  seat.state = WorkerState::kDead;
  roster_epoch_ = epoch;
}

void Membership::Lose(WorkerSeat& seat, TimePoint now) {
  LW_CHECK(gathered() && seat.live(), "worker {} is {}", seat.rank.value(), WorkerStateName(seat.state));
  seat.state = WorkerState::kLost;
  seat.last_heard = now;
}

void Membership::HearAll(TimePoint now) {
  for (WorkerSeat& seat : workers_) seat.last_heard = now;
  for (ShardSeat& seat : shards_) seat.last_heard = now;
}

void Membership::DiscountPause(Duration pause, TimePoint now) {
  for (WorkerSeat& seat : workers_) seat.last_heard = std::min(now, seat.last_heard + pause);
  for (ShardSeat& seat : shards_) seat.last_heard = std::min(now, seat.last_heard + pause);
}

Silence Membership::Review(TimePoint now, const Patience& patience) {
  const auto [suspect_after, expel_after, replace_within] = patience;
  Silence silence;
  for (WorkerSeat& seat : workers_) {
    const Duration silent = now - seat.last_heard;
    if (seat.state == WorkerState::kLeft) {
      // It may still pull final values. If it is lost meanwhile, the job does not wait for it without end.
      if (silent >= expel_after) seat.done = true;
    } else if (seat.state == WorkerState::kLost && silent >= replace_within) {
      silence.unreplaced.push_back(seat.rank);
    } else if (seat.live() && silent >= expel_after) {
      silence.expelled.push_back(seat.rank);
    } else if (seat.state == WorkerState::kJoined && silent >= suspect_after) {
      seat.state = WorkerState::kSuspect;
      silence.suspected.push_back(seat.rank);
    } else if (seat.state == WorkerState::kSuspect && silent < suspect_after) {
      seat.state = WorkerState::kJoined;
    }
  }
  for (const ShardSeat& seat : shards_) {
    if (!seat.taken || now - seat.last_heard < (seat.awaited ? replace_within : expel_after)) continue;
    (seat.awaited ? silence.unreplaced_shards : silence.lost).push_back(seat.id);
  }
  return silence;
}

std::vector<WorkerId> Membership::Counted() const {
  std::vector<WorkerId> counted;
  for (const WorkerSeat& seat : workers_) {
    if (seat.counted()) counted.push_back(seat.rank);
  }
  return counted;
}

std::uint32_t Membership::LiveCount() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(workers_, [](const WorkerSeat& seat) { return seat.live(); }));
}

bool Membership::AllDone() const {
  return gathered() && std::ranges::all_of(workers_, [](const WorkerSeat& seat) {
           return seat.state == WorkerState::kAwaited || seat.state == WorkerState::kDead ||
                  (seat.state == WorkerState::kLeft && seat.done);
         });
}

bool Membership::AnyLeft() const {
  return std::ranges::any_of(workers_, [](const WorkerSeat& s) { return s.state == WorkerState::kLeft; });
}

wire::pb::Roster Membership::BuildRoster() const {
  wire::pb::Roster roster;
  roster.set_epoch(roster_epoch_.value());
  roster.set_gathered(gathered());
  for (const WorkerSeat& seat : workers_) {
    // An unused seat is no member; neither is a life that has not entered yet.
    if (seat.state == WorkerState::kAwaited) continue;
    wire::pb::Member& member = *roster.add_members();
    member.set_worker(seat.rank.value());
    member.set_incarnation(seat.incarnation.value());
    member.set_first(seat.first.value());
    member.set_gone(!seat.counted());
    member.set_joining(seat.joining);
    member.set_goes_on(IsResumed() || seat.entered != Epoch{});
    member.set_dead(seat.state == WorkerState::kDead);
    member.set_finished(seat.state == WorkerState::kLeft && seat.finished);
    const std::size_t rank = seat.rank.index();
    const bool restores = rank < restores_.size() && !restores_[rank].file().empty();
    if (restores && seat.entered == Epoch{}) *member.mutable_restore() = restores_[rank];
  }
  for (const ShardSeat& seat : shards_) {
    wire::pb::Shard& shard = *roster.add_shards();
    shard.set_shard(seat.id.value());
    shard.set_server(seat.server.value());
    shard.set_address(seat.address);
    shard.set_life(seat.life);
  }
  return roster;
}

}  // namespace leeway
