#include "node/server/block_store.h"

#include <utility>

#include "base/errors.h"
#include "base/hash.h"

namespace leeway {

BlockStore::BlockStore(const Registry<SyncModel>& sync, const Registry<Optimizer>& optimizers,
                       BufferPool& pool, BlockEvents& events)
    : sync_(sync), optimizers_(optimizers), pool_(pool), events_(events) {}

Result<std::unique_ptr<BlockStore::TablePolicies>> BlockStore::MakePolicies(
    const wire::pb::Table& table) const {
  auto policies = std::make_unique<TablePolicies>();
  policies->name = table.name();
  policies->own_clock = static_cast<TableClock>(table.clock()) == TableClock::kOwn;
  LW_ASSIGN_OR_RETURN(policies->sync, MakeSyncPolicy(sync_, table.sync()));
  LW_ASSIGN_OR_RETURN(policies->apply, MakeApplyMode(table.apply(), *policies->sync.model));
  LW_ASSIGN_OR_RETURN(policies->optimizer, optimizers_.MakeFromSpec(table.optimizer()));
  return policies;
}

Status BlockStore::CheckBlock(const wire::pb::Table& table, const wire::pb::Block& block) const {
  if (block.block() > kBlockIdMax) {
    return Protocol("table \"{}\": block id {}, wanted at most {}", table.name(), block.block(), kBlockIdMax);
  }
  if (block.elements() == 0) return Protocol("table \"{}\": block {} is empty", table.name(), block.block());
  const Block* known = Find(BlockId(block.block()));
  if (known != nullptr && known->elements() != block.elements()) {
    return Protocol("table \"{}\": block {} got {} elements, wanted {} as before", table.name(),
                    block.block(), block.elements(), known->elements());
  }
  return Status::Ok();
}

Result<BlockStore::Taken> BlockStore::Take(const wire::pb::TableMap& map, const ShardPlace& place) {
  std::map<TableId, std::unique_ptr<TablePolicies>> made;
  for (const wire::pb::Table& table : map.tables()) {
    for (const wire::pb::Block& block : table.blocks()) LW_RETURN_IF_ERROR(CheckBlock(table, block));
    const TableId id(table.id());
    if (policies_.contains(id)) continue;
    auto policies = MakePolicies(table);
    if (!policies.ok()) return policies.status().WithContext(fmt::format("table \"{}\"", table.name()));
    made[id] = *std::move(policies);
  }
  policies_.merge(made);

  Taken taken;
  for (const wire::pb::Table& table : map.tables()) {
    const TablePolicies& policies = *policies_.at(TableId(table.id()));
    // Coins are the job's or this server's (scope=server).
    const bool own_coins = policies.sync.scope == CoinScope::kServer;
    const std::uint64_t seed = own_coins ? Hash64({place.seed, place.server.value() + 1ULL}) : place.seed;
    for (const wire::pb::Block& block : table.blocks()) {
      const BlockId id(block.block());
      if (ShardId(block.shard()) != place.shard || Find(id) != nullptr) continue;
      BlockOptions options;
      options.id = id;
      options.table = TableId(table.id());
      options.term = Term(block.term());
      options.offset = block.offset();
      options.elements = block.elements();
      options.nonfinite = static_cast<NonFinite>(table.nonfinite());
      options.apply = policies.apply;
      options.coin_seed = seed;
      if (block.has_restore()) {
        taken.to_restore.push_back({options, block.restore()});
      } else {
        taken.created.push_back(Make(options));
      }
    }
  }
  return taken;
}

Block* BlockStore::Make(const BlockOptions& options) {
  const TablePolicies& policies = *policies_.at(options.table);
  blocks_.push_back(std::make_unique<Block>(options, policies.sync, *policies.optimizer, pool_, events_));
  if (options.id.index() >= by_id_.size()) by_id_.resize(options.id.index() + 1);
  by_id_[options.id.index()] = blocks_.back().get();
  return blocks_.back().get();
}

Result<Block*> BlockStore::Restore(const BlockOptions& options, const BlockState& state) {
  const auto slots = static_cast<std::size_t>(policies_.at(options.table)->optimizer->slots());
  if (state.version > Version(0) && state.slots.size() != slots) {
    return FailedPrecondition(
        "block {} was saved with {} arrays of optimizer state, wanted {}: is it another optimizer?",
        options.id.value(), state.slots.size(), slots);
  }
  Block* block = Make(options);
  block->Load(state);
  return block;
}

BlockCounters BlockStore::Sum() const {
  BlockCounters sum;
  for (const auto& block : blocks_) sum += block->counters();
  return sum;
}

const std::string& BlockStore::TableName(const Block& block) const {
  return policies_.at(block.table())->name;
}

bool BlockStore::IsOwnClock(const Block& block) const { return policies_.at(block.table())->own_clock; }

}  // namespace leeway
