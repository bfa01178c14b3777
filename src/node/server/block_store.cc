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

Result<std::vector<Block*>> BlockStore::Take(const wire::pb::TableMap& map, const ShardPlace& place) {
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

  std::vector<Block*> created;
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
      options.elements = block.elements();
      options.nonfinite = static_cast<NonFinite>(table.nonfinite());
      options.apply = policies.apply;
      options.coin_seed = seed;
      blocks_.push_back(std::make_unique<Block>(options, policies.sync, *policies.optimizer, pool_, events_));
      if (id.index() >= by_id_.size()) by_id_.resize(id.index() + 1);
      by_id_[id.index()] = blocks_.back().get();
      created.push_back(blocks_.back().get());
    }
  }
  return created;
}

BlockCounters BlockStore::Sum() const {
  BlockCounters sum;
  for (const auto& block : blocks_) {
    const BlockCounters& c = block->counters();
    sum.applied += c.applied;
    sum.summed += c.summed;
    sum.absent += c.absent;
    sum.late_dropped += c.late_dropped;
    sum.refused += c.refused;
    sum.repeated += c.repeated;
    sum.gaps += c.gaps;
    sum.fenced += c.fenced;
    sum.moved += c.moved;
    sum.windows += c.windows;
    sum.pulls += c.pulls;
    sum.answers += c.answers;
    sum.unchanged += c.unchanged;
    sum.delayed += c.delayed;
    sum.advances += c.advances;
    sum.steps += c.steps;
    sum.hyper_mismatches += c.hyper_mismatches;
    sum.overflowed += c.overflowed;
  }
  return sum;
}

const std::string& BlockStore::TableName(const Block& block) const {
  return policies_.at(block.table())->name;
}

}  // namespace leeway
