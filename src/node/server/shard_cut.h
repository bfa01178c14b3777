// ShardCut: a shard's part of one checkpoint. Takes the state of every block at the right moment, writes all
// into one file, and says what became of it.
//
// States pin the versions they show, so training goes on while they are written; each is let go when it is
// written. One checkpoint at a time: a new one ends what is under way, and removes what that has written.
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
  // Borrows all; `reply` gets one answer for every Begin, and is not called from inside one of Begin's own.
  ShardCut(Env& env, const BlockStore& blocks, std::function<void(const wire::pb::CutReply&)> reply);
  ~ShardCut();

  // Asked again, a checkpoint that is written is answered again, and one under way goes on.
  void Begin(const wire::pb::Cut& cut, const std::string& job, ShardId shard);
  // Keeps a checkpoint that cannot begin before all blocks are here, in place of the one kept before.
  void Defer(const wire::pb::Cut& cut) { deferred_ = cut; }
  // Begins the checkpoint that was deferred, if there is one.
  void BeginDeferred(const std::string& job, ShardId shard);
  // Of a block that was told to notify.
  void OnReached(BlockId block);
  // Some blocks are gone: the checkpoint that is being written, if there is one, fails.
  void Abandon(const Status& why);

 private:
  // All of one checkpoint; gone when it is over, so that what still comes of it finds nothing.
  struct Writing;

  void TakeNow(const Block& block);
  void TakeLast();
  void WriteNext();
  void WriteEnd();
  void Create();
  void Append(std::vector<Pinned> pieces, std::function<void()> next);
  // The answer to a write: `next`, unless it failed or nobody wants the file any more.
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
