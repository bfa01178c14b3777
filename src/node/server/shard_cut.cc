#include "node/server/shard_cut.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"
#include "checkpoint/layout.h"
#include "leeway/storage.h"
#include "node/server/held_tally.h"

namespace leeway {

struct ShardCut::Writing {
  Writing(const wire::pb::Cut& cut, const std::string& job, ShardId shard)
      : checkpoint(cut.checkpoint()),
        iteration(cut.iteration()),
        folder(cut.folder()),
        file(ShardFileName(shard)),
        writer(job, cut.checkpoint(), shard) {}

  const std::uint64_t checkpoint;
  const Iteration iteration;
  const std::string folder;
  const std::string file;
  ShardFileWriter writer;
  std::set<BlockId> awaited;         // not in their iteration yet
  std::vector<const Block*> last;    // with clocks of their own: taken when all others are
  std::vector<BlockRecord> records;  // to be written, the last one first
  std::optional<BlockId> bare;       // a block without values
  std::vector<Pinned> pieces;        // of the one being written
  HeldTally held;                    // in the blocks of the job's clock
  bool made = false;                 // this shard has made the file
  bool starved = false;              // a record found no memory
};

ShardCut::ShardCut(Env& env, const BlockStore& blocks, std::function<void(const wire::pb::CutReply&)> reply)
    : env_(env), blocks_(blocks), reply_(std::move(reply)) {}

ShardCut::~ShardCut() = default;

void ShardCut::Begin(const wire::pb::Cut& cut, const std::string& job, ShardId shard) {
  if (writing_ != nullptr && writing_->checkpoint == cut.checkpoint()) return;
  if (answer_.checkpoint() == cut.checkpoint()) return reply_(answer_);
  if (writing_ != nullptr) Discard(*writing_);
  writing_ = std::make_shared<Writing>(cut, job, shard);
  answer_.Clear();
  answer_.set_checkpoint(cut.checkpoint());

  const Iteration iteration(cut.iteration());
  std::vector<Block*> later;
  for (const auto& block : blocks_.all()) {
    // A block that steps with every push, or has a clock of its own, never shows all workers the same values.
    if (blocks_.IsOwnClock(*block)) {
      writing_->last.push_back(block.get());
    } else if (blocks_.TakesAtOnce(*block) && (cut.soon() || block->v_train() > iteration)) {
      TakeNow(*block);
    } else if (block->v_train() > iteration) {
      answer_.set_late(std::max(answer_.late(), block->v_train().value()));
    } else {
      later.push_back(block.get());
    }
  }
  if (answer_.late() > 0) return Answer();
  for (const Block* block : later) writing_->awaited.insert(block->id());
  if (later.empty()) return TakeLast();
  for (Block* block : later) block->NotifyAt(iteration);
}

void ShardCut::BeginDeferred(const std::string& job, ShardId shard) {
  if (const auto cut = std::exchange(deferred_, std::nullopt)) Begin(*cut, job, shard);
}

void ShardCut::OnReached(BlockId id) {
  if (writing_ == nullptr || writing_->awaited.erase(id) == 0) return;
  TakeNow(*blocks_.Find(id));
  if (writing_->awaited.empty()) TakeLast();
}

void ShardCut::TakeLast() {
  for (const Block* block : writing_->last) TakeNow(*block);
  WriteNext();
}

void ShardCut::TakeNow(const Block& block) {
  // A job that went on from it would wait for initial values, which its workers do not give again.
  if (!block.initialized()) writing_->bare = block.id();
  const BlockIdentity identity{block.id(), block.table(), block.offset(), block.elements(), block.term()};
  writing_->records.push_back({identity, block.Save()});
  // A table with a clock of its own is tied to no iteration, so it makes no cut fuzzy.
  if (blocks_.IsOwnClock(block)) return;
  // The block counts as it is now, not as it was when the cut began: it may have been switched since.
  if (blocks_.MayHoldFrom(block, writing_->iteration)) answer_.set_fuzzy(true);
  for (const LifeState& life : writing_->records.back().state.progress.lives) {
    writing_->held.Add(life.key, std::nullopt, {.iteration = life.progress, .silent = life.silent});
  }
}

void ShardCut::WriteNext() {
  const std::shared_ptr<Writing> now = writing_;
  if (now->bare) return Fail(Unavailable("block {} has no values yet", now->bare->value()));
  if (now->writer.bytes() == 0) return Create();
  if (now->records.empty()) return WriteEnd();
  // The checksum of a large block takes a while; training goes on meanwhile.
  const auto arrays = 1 + now->records.back().state.slots.size();
  env_.compute.RunSized(
      {JobSize::Kind::kEncode, now->records.back().id.elements * sizeof(float) * arrays},
      [now] {
        try {
          now->pieces = now->writer.Add(now->records.back());
        } catch (const std::bad_alloc&) {
          now->starved = true;
        }
      },
      [this, now] {
        if (now->starved && writing_ == now) {
          return Fail(ResourceExhausted("block {}: no memory for its record; give the server more memory",
                                        now->records.back().id.block.value()));
        }
        now->records.pop_back();
        std::vector<Pinned> pieces = std::exchange(now->pieces, {});
        if (writing_ == now) Append(std::move(pieces), [this] { WriteNext(); });
      });
}

void ShardCut::WriteEnd() {
  const std::shared_ptr<Writing> now = writing_;
  Append(now->writer.Footer(), [this, now] {
    const auto sync = [this, now](Storage::Done done) {
      if (LW_MUTATED(shard_file_not_synced)) return done(Status::Ok());
      env_.storage.Sync(JoinPath(now->folder, now->file), std::move(done));
    };
    sync([this, now](const Status& synced) {
      if (writing_ != now) return;
      if (!synced.ok()) return Fail(synced);
      answer_.set_file(now->file);
      answer_.set_bytes(now->writer.bytes());
      answer_.set_checksum(now->writer.checksum());
      for (const RecordPlace& record : now->writer.records()) {
        wire::pb::CutBlock& block = *answer_.add_blocks();
        block.set_block(record.block.value());
        block.set_offset(record.offset);
        block.set_bytes(record.bytes);
        block.set_v_train(record.v_train.value());
        block.set_checksum(record.checksum);
        block.set_term(record.term.value());
      }
      now->held.FillInto(*answer_.mutable_held());
      Answer();
    });
  });
}

void ShardCut::Create() {
  // The file must be new: a shard does not write into the file of another.
  env_.storage.Create(Path(*writing_), writing_->writer.Header(), IfWritten([this] { WriteNext(); }));
}

void ShardCut::Append(std::vector<Pinned> pieces, std::function<void()> next) {
  env_.storage.Append(Path(*writing_), std::move(pieces), IfWritten(std::move(next)));
}

Storage::Done ShardCut::IfWritten(std::function<void()> next) {
  return [this, now = writing_, next = std::move(next)](const Status& written) {
    now->made = now->made || written.ok();
    if (writing_ != now) return Discard(*now);
    if (!written.ok()) return Fail(written);
    next();
  };
}

void ShardCut::Discard(const Writing& writing) {
  // Nobody will sync the file: it would stay open, and keep its room on the disk once the scheduler has
  // removed the checkpoint.
  if (writing.made) env_.storage.Remove(Path(writing), [](const Status&) {});
}

std::string ShardCut::Path(const Writing& writing) { return JoinPath(writing.folder, writing.file); }

void ShardCut::Abandon(const Status& why) {
  if (writing_ != nullptr) Fail(why);
}

void ShardCut::Fail(const Status& why) {
  answer_.set_error(why.message());
  Answer();
}

void ShardCut::Answer() {
  writing_ = nullptr;
  reply_(answer_);
}

}  // namespace leeway
