// CheckpointRequests: who asked for a checkpoint now, and is to hear what became of it.
//
// Monitors ask by a frame, and the process that the scheduler runs in by a call. All are answered by the next
// checkpoint that is whole or given up, or by the end of the job. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "wire/control.pb.h"

namespace leeway {

// What became of a checkpoint that was asked for.
struct CheckpointOutcome {
  Status status;  // ok: it is whole
  std::uint64_t checkpoint = 0;
  Iteration iteration{-1};
  std::string folder;
};

class CheckpointRequests {
 public:
  using Done = std::function<void(const CheckpointOutcome&)>;

  void Add(Done done) { calls_.push_back(std::move(done)); }
  // Takes the place of an earlier one of the same monitor.
  void Add(ConnectionId monitor, Done done) { monitors_[monitor] = std::move(done); }
  // A monitor is gone: nobody is left to tell.
  void Forget(ConnectionId monitor) { monitors_.erase(monitor); }
  // Answers all. Each is called once; one that asks again from inside waits for the next.
  void AnswerAll(const CheckpointOutcome& outcome);

 private:
  std::vector<Done> calls_;
  std::map<ConnectionId, Done> monitors_;
};

[[nodiscard]] wire::pb::CheckpointReply ToReply(std::uint64_t request, const CheckpointOutcome& outcome);

}  // namespace leeway
