// RankStates: the workers' part of the checkpoint under way: which workers give their states, and the answers
// so far.
//
// Where a cut is the same moment for all (every table of the job's clock is applied once an iteration), a
// worker gives its state when it is about to begin just the cut's iteration. A worker that joined beyond it
// has nothing to give. Where workers may leave iterations out, or blocks are taken one by one, a worker gives
// its state when it is about to begin that iteration or a later one. Where blocks are taken at once, it gives
// its state between any two iterations. In a job without iterations nobody is asked.
//
// A worker that has left may have passed the cut, and still be writing: the cut waits until it says goodbye.
// The cut does not wait for a worker that died or was lost; its state counts if it was written by then. Pure
// state, told of events by its owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"
#include "leeway/ids.h"
#include "node/scheduler/membership.h"
#include "wire/control.pb.h"

namespace leeway {

class RankStates {
 public:
  enum class Moment : std::uint8_t {
    kNone,      // no table follows the job's clock
    kExact,     // the same for all
    kSkipping,  // the same for all blocks, and a worker may leave the iteration out
    kNearby,    // blocks are taken one by one
  };
  void Begin(const wire::pb::Cut& cut, Moment moment);

  // The cut as this worker must hear it (again); nothing if it need not give its state, or has answered.
  [[nodiscard]] std::optional<wire::pb::Cut> OpenFor(const WorkerSeat& seat) const;
  enum class Step : std::uint8_t { kTaken, kTooLate, kFailed };
  // An answer of a worker; one to another checkpoint changes nothing.
  [[nodiscard]] Step Take(const WorkerSeat& seat, const wire::pb::RankState& state);
  // Missing() is empty.
  [[nodiscard]] bool Complete(const std::vector<WorkerSeat>& workers) const;
  // The workers that the cut waits for.
  [[nodiscard]] std::vector<WorkerId> Missing(const std::vector<WorkerSeat>& workers) const;
  // The states that are written, by rank.
  [[nodiscard]] std::vector<ManifestRank> Written() const;
  // Whether a rank had gradients in hand that are in no block.
  [[nodiscard]] bool AnyLacks() const;

 private:
  struct Answer {
    Incarnation incarnation;
    bool lacks = false;                   // gradients that it has added up are in no block
    std::optional<ManifestRank> written;  // nothing: it had nothing to give
  };

  wire::pb::Cut cut_;  // as workers hear it
  bool asks_ = false;
  std::map<WorkerId, Answer> answers_;
};

// Where the states of a checkpoint at `path` are, by rank; of ranks without one the file is empty.
[[nodiscard]] std::vector<wire::pb::RankRestore> RankRestores(const Manifest& manifest,
                                                              const std::string& path);

}  // namespace leeway
