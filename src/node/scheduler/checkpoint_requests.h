// CheckpointRequests: requests for a checkpoint now, until they are answered.
//
// Monitors ask by a frame, and the process that the scheduler runs in by a call. The next checkpoint that is
// whole or given up answers all of them, or the end of the job does. Not thread-safe.
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

// The answer to a request for a checkpoint.
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
  // Replaces an earlier request of the same monitor.
  void Add(ConnectionId monitor, Done done) { monitors_[monitor] = std::move(done); }
  // A monitor is gone: drops its request.
  void Forget(ConnectionId monitor) { monitors_.erase(monitor); }
  // Answers all requests, each once. A request that is made from inside an answer waits for the next call.
  void AnswerAll(const CheckpointOutcome& outcome);

 private:
  std::vector<Done> calls_;
  std::map<ConnectionId, Done> monitors_;
};

[[nodiscard]] wire::pb::CheckpointReply ToReply(std::uint64_t request, const CheckpointOutcome& outcome);

}  // namespace leeway
