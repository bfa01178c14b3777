// ArrayReads: the arrays of tables that this worker has asked for and not got wholly: values, or the
// optimizer's state. Keeps what has come; the node sends the questions. Thread rule: the node's.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/worker.h"
#include "node/worker/arrays_wanted.h"
#include "node/worker/table.h"
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
  bool has_known = false;    // what is in use was copied to where newer values land
  bool empty_block = false;  // one had no initial values
};

class ArrayReads {
 public:
  [[nodiscard]] std::shared_ptr<ArrayRead> Begin(WorkerTable& table, ArraysWanted what, ArraysDone done,
                                                 TimePoint now);
  [[nodiscard]] bool empty() const { return reads_.empty(); }
  [[nodiscard]] const std::vector<std::shared_ptr<ArrayRead>>& open() const { return reads_; }
  // Null: nobody waits for it (any more).
  [[nodiscard]] std::shared_ptr<ArrayRead> Find(std::uint64_t request) const;
  // Where an array of this entry lands. An error if the entry does not answer `read`.
  [[nodiscard]] static Result<std::span<float>> PlaceOf(ArrayRead& read, const WorkerBlock& block,
                                                        const wire::ArraysEntry& entry);
  // An entry is here, in its place. Hands the read over if it is whole now, and forgets it; else null.
  [[nodiscard]] Result<std::shared_ptr<ArrayRead>> OnEntry(const std::shared_ptr<ArrayRead>& read,
                                                           const WorkerBlock& block,
                                                           const wire::ArraysEntry& entry);
  // To be asked for again: the connection to this shard is new, or the block has moved.
  void Unsend(ShardId shard);
  void Unsend(const WorkerBlock& block);
  [[nodiscard]] std::vector<std::shared_ptr<ArrayRead>> TakeAll();
  // A block that a read waits for; null: none. And since when.
  [[nodiscard]] const WorkerBlock* FirstOpen() const;
  [[nodiscard]] TimePoint since() const { return since_; }

 private:
  std::vector<std::shared_ptr<ArrayRead>> reads_;  // shared: with the frames that land in them
  std::uint64_t last_request_ = 0;
  TimePoint since_;
};

}  // namespace leeway
