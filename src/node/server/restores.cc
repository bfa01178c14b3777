#include "node/server/restores.h"

#include <utility>
#include <vector>

#include "base/errors.h"
#include "checkpoint/block_record.h"
#include "leeway/arena.h"
#include "leeway/storage.h"

namespace leeway {

Restores::Restores(Env& env, BlockStore& blocks, BufferPool& pool, Events events)
    : env_(env), blocks_(blocks), pool_(pool), events_(std::move(events)) {}

void Restores::Begin(const BlockStore::ToRestore& block) {
  if (!under_way_.insert(block.options.id).second) return;
  env_.storage.Read(block.from.file(), block.from.offset(), block.from.bytes(),
                    [this, block](const Result<std::vector<std::byte>>& read) {
                      const Status loaded = read.ok() ? Load(block, *read) : read.status();
                      if (!loaded.ok()) return events_.failed(loaded.WithContext(block.from.file()));
                      under_way_.erase(block.options.id);
                      if (under_way_.empty()) events_.all_loaded();
                    });
}

Status Restores::Load(const BlockStore::ToRestore& block, std::span<const std::byte> bytes) {
  const wire::pb::Restore& from = block.from;
  const RecordPlace place{block.options.id,          from.offset(),     from.bytes(),
                          Iteration(from.v_train()), Term(from.term()), from.checksum()};
  LW_ASSIGN_OR_RETURN(BlockRecord record,
                      DecodeRecord(place, bytes, [this](std::size_t elements, Arena::Use use) {
                        return pool_.Take(elements, use);
                      }));
  if (record.id.elements != block.options.elements) {
    return FailedPrecondition("block {} was saved with {} elements, wanted {}", block.options.id.value(),
                              record.id.elements, block.options.elements);
  }
  if (from.rebase() && from.keep()) {
    record.state.EndLives();
  } else if (from.rebase()) {
    record.state.Rebase(Iteration(from.start()));
  }
  if (from.patch() && record.state.version == Version(0)) {
    return Unavailable("block {} had no values yet when this was saved", block.options.id.value());
  }
  LW_ASSIGN_OR_RETURN(Block* const made, blocks_.Restore(block.options, record.state));
  events_.loaded(*made, from.patch());
  return Status::Ok();
}

}  // namespace leeway
