// ArrayReads: the arrays of tables that this worker has asked for and not got wholly: values, or the
// optimizer's state. Sends the questions, and keeps what has come. Thread rule: the node's.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "leeway/worker.h"
#include "node/worker/arrays_wanted.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/shard_ports.h"
#include "node/worker/table_set.h"
#include "node/worker/worker_identity.h"
#include "wire/messages.h"

namespace leeway {

struct ArrayRead {
  [[nodiscard]] bool of_state() const { return what == ArraysWanted::kState; }

  std::uint64_t request = 0;
  WorkerTable* table = nullptr;
  ArraysWanted what = ArraysWanted::kValues;
  ArraysDone done;
  TableState state;
  struct Part {
    bool sent = false;  // asked for, on this connection
    bool here = false;
    std::bitset<wire::kArrayMax + 1> got;  // by array
  };
  std::vector<Part> parts;   // by block
  std::size_t left = 0;      // blocks that are not here
  bool has_known = false;    // the values in use were copied to where newer ones land
  bool empty_block = false;  // one had no initial values
};

// Where the arrays of one frame land; kept until all of it is here.
struct ArraysLanding {
  wire::Arrays arrays;
  std::shared_ptr<ArrayRead> read;  // shared: the read may end before the frame does; null: nobody waits
  std::vector<std::byte> nowhere;   // for arrays that nobody waits for
};

class ArrayReads {
 public:
  // Borrows all three for its life.
  ArrayReads(const WorkerIdentity& self, WorkerCounters& counters, DueCallbacks& due)
      : self_(self), counters_(counters), due_(due) {}

  void Begin(WorkerTable& table, ArraysWanted what, ArraysDone done, TimePoint now);
  [[nodiscard]] bool empty() const { return reads_.empty(); }
  // Asks for what was not asked on this connection.
  void Send(const ShardPorts& ports);
  // A frame with arrays begins to come; its lease is an ArraysLanding.
  [[nodiscard]] Result<Landing> Land(const TableSet& tables, std::span<const std::byte> body,
                                     std::uint64_t payload_bytes);
  // The arrays of a frame of this shard are here, in their places.
  [[nodiscard]] Status OnArrays(ShardId from, const TableSet& tables, const wire::Arrays& arrays);
  // To be asked for again: the connection to this shard is new, or the block has moved.
  void Unsend(ShardId shard);
  void Unsend(const WorkerBlock& block);
  void FailAll(const Status& why);
  // A block that a read waits for; null: none. And since when.
  [[nodiscard]] const WorkerBlock* FirstOpen() const;
  [[nodiscard]] TimePoint since() const { return since_; }

 private:
  // Null: nobody waits for it (any more).
  [[nodiscard]] std::shared_ptr<ArrayRead> Find(std::uint64_t request) const;
  // An entry is here, in its place. Hands the read over if it is whole now, and forgets it; else null.
  [[nodiscard]] Result<std::shared_ptr<ArrayRead>> OnEntry(const std::shared_ptr<ArrayRead>& read,
                                                           const WorkerBlock& block,
                                                           const wire::ArraysEntry& entry);

  const WorkerIdentity& self_;
  WorkerCounters& counters_;
  DueCallbacks& due_;
  std::vector<std::shared_ptr<ArrayRead>> reads_;  // shared: with the frames that land in them
  std::uint64_t last_request_ = 0;
  TimePoint since_;
};

}  // namespace leeway
