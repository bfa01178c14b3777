// ShardCut: a shard's part of one checkpoint. Takes the state of every block at the right moment, writes all
// into one file, and tells the scheduler the outcome.
//
// A state pins its versions until it is written, so training goes on meanwhile. The shard writes one
// checkpoint at a time: a new one ends the one under way and removes its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/shard_file.h"
#include "leeway/env.h"
#include "leeway/storage.h"
#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

class ShardCut {
 public:
  // Borrows all. `reply` gets the answer to every checkpoint that no other one ends, perhaps during Begin.
  ShardCut(Env& env, const BlockStore& blocks, std::function<void(const wire::pb::CutReply&)> reply);
  ~ShardCut();

  // Asked for the same checkpoint again, answers again if it is written; if it is under way, it goes on.
  void Begin(const wire::pb::Cut& cut, const std::string& job, ShardId shard);
  // Keeps a checkpoint that cannot begin before all blocks are here, in place of the one kept before.
  void Defer(const wire::pb::Cut& cut) { deferred_ = cut; }
  // Begins the checkpoint that was deferred, if there is one.
  void BeginDeferred(const std::string& job, ShardId shard);
  // A block has reached the iteration of the checkpoint.
  void OnReached(BlockId block);
  // Some blocks are gone: the checkpoint under way, if there is one, fails.
  void Abandon(const Status& why);

 private:
  // The state of one checkpoint. It goes when the checkpoint is over, so that late answers of Env find
  // nothing.
  struct Writing;

  void TakeNow(const Block& block);
  void TakeLast();
  void WriteNext();
  void WriteEnd();
  void Create();
  void Append(std::vector<Pinned> pieces, std::function<void()> next);
  // Runs `next` after a write, unless the write failed or the checkpoint has ended.
  [[nodiscard]] Storage::Done IfWritten(std::function<void()> next);
  void Discard(const Writing& writing);
  [[nodiscard]] static std::string Path(const Writing& writing);
  void Fail(const Status& why);
  void Answer();

  Env& env_;
  const BlockStore& blocks_;
  const std::function<void(const wire::pb::CutReply&)> reply_;
  std::shared_ptr<Writing> writing_;  // shared with calls to Env that are under way
  wire::pb::CutReply answer_;         // to the last checkpoint
  std::optional<wire::pb::Cut> deferred_;
};

}  // namespace leeway
