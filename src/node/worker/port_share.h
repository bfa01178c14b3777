// PortShare: what all ports of a worker have in common: who it is, its limits and counters, and the frame
// that one of them is building. Owned by the node, which outlives its ports. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/pinned.h"
#include "leeway/worker.h"
#include "node/worker/communication.h"
#include "node/worker/table.h"
#include "node/worker/worker_identity.h"
#include "wire/messages.h"

namespace leeway {

// Empty but during a call of a port. One for all of them: its memory is used again, and is still in the cache
// when the next port builds its frames.
struct FrameDraft {
  wire::Init init;
  wire::Push push;
  wire::Absent absent;
  wire::Resume resume;
  wire::Pull pull;
  wire::Assign assign;
  std::vector<std::byte> body;
  std::vector<Pinned> payload;
  std::uint64_t payload_bytes = 0;
  std::vector<WorkerBlock*> blocks;        // that may have something to send
  std::vector<const WorkerTable*> tables;  // with gradients in `push` that were not sent before
  std::vector<BlockId> named;              // by the frame that is being built
  std::uint8_t priority = 255;             // of the most urgent of them
};

struct PortShare {
  const WorkerIdentity& self;
  WorkerCounters& counters;
  Communication& communication;
  const std::uint64_t push_bytes_in_flight_max, frame_payload_bytes;
  std::uint64_t flush_bytes = JobOptions{}.flush_bytes;  // the job's, once the worker has joined it
  std::uint8_t pull_flags = 0;                           // beside that of an observer
  bool priorities = false;                               // as JobOptions::priorities, once it has joined
  FrameDraft draft = {};
};

}  // namespace leeway
