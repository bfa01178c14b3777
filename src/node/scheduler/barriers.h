// Barriers: workers wait until every member of the job has called with the same name. Each name may be used
// again; a worker counts its own calls of a name as rounds, from 1.
//
// No round waits for a member that left or died. A repeated call (after a reconnect) changes nothing. A call
// for a round that is over is released at once.
//
// A worker that came to the running job runs its script from the beginning, and the others do not wait there
// for it. Until it has ended an iteration it passes every barrier. Then its next call is for the open round.
// A round waits for it only if the callers of the round are in a later iteration than the worker began with.
// Otherwise the round could wait for the worker, while the worker waits for values that need the callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"
#include "node/scheduler/membership.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class Barriers {
 public:
  static constexpr std::size_t kNamesMax = 65'536;
  static constexpr std::size_t kNameBytesMax = 256;

  struct Release {
    WorkerId worker;
    std::string name;
    std::uint64_t round = 0;
  };

  // One call; `began`: where a member that came to the running job began.
  struct Call {
    WorkerId worker;
    std::string name;
    std::uint64_t round = 1;
    Iteration iteration{0};
    std::uint64_t steps = 0;
    std::optional<Iteration> began{};
  };
  struct Member {
    WorkerId worker;
    std::optional<Iteration> began{};
  };
  // A live member arrives. Call Released then.
  [[nodiscard]] Status Arrive(const Call& call);
  // A new life of this worker begins to count.
  void Forget(WorkerId worker);
  // Returns the calls that may go on, now that these are the members.
  [[nodiscard]] std::vector<Release> Released(std::span<const Member> members);
  // The members that have not come to the first round in which `who` waits; empty if it waits in no round.
  [[nodiscard]] std::vector<WorkerId> Missing(const std::string& name, WorkerId who,
                                              std::span<const Member> members) const;
  // The latest iteration in which all members passed a barrier; -1 before the first. A worker that comes
  // later must not begin earlier: it would call a barrier that nobody else calls again.
  [[nodiscard]] Iteration passed() const { return passed_; }

  // The log. AddChanges adds all changes since the last call, and says whether there are any; Apply puts
  // records into a new object. Calls for open rounds are not logged: all workers that wait call again.
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  [[nodiscard]] Status Apply(const wire::pb::LogRecord& record);

 private:
  struct Arrival {
    std::uint64_t round = 0;              // in the worker's own count
    Iteration iteration = kIterationMax;  // in which it called
  };
  struct Round {
    std::map<WorkerId, Arrival> arrived;
    // In which those who called it are.
    [[nodiscard]] Iteration Lowest() const;
  };
  struct Barrier {
    std::uint64_t over = 0;  // rounds up to this one are over
    std::map<std::uint64_t, Round> rounds;
    std::map<WorkerId, std::int64_t> ahead;  // of a worker's own count: how far the job's is
  };
  [[nodiscard]] static bool Has(const Round& round, const Member& member);
  [[nodiscard]] static bool IsComplete(const Round& round, std::span<const Member> members);
  void Fill(const std::string& name, const Barrier& barrier, wire::pb::LoggedBarrier& out) const;

  std::map<std::string, Barrier> barriers_;
  Iteration passed_{-1};
  std::set<std::string> changed_;  // since the last AddChanges
};

// The members that barriers wait for.
[[nodiscard]] std::vector<Barriers::Member> BarrierMembers(const Membership& members);

}  // namespace leeway
