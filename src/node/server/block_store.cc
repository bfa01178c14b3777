#include "node/server/block_store.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "node/map_block.h"
#include "optimizer/make_optimizer.h"

namespace leeway {

BlockStore::BlockStore(const Registry<SyncModel>& sync, const Registry<Optimizer>& optimizers,
                       BufferPool& pool, BlockEvents& events)
    : sync_(sync), optimizers_(optimizers), pool_(pool), events_(events) {}

BlockStore::Specs BlockStore::SpecsOf(const wire::pb::Table& table, const ShardPlace& place) {
  Specs specs{table.sync(), table.apply()};
  for (const wire::pb::ServerSync& other : table.of_servers()) {
    if (ServerId(other.server()) == place.server) specs = {other.sync(), other.apply()};
  }
  return specs;
}

Result<std::unique_ptr<BlockStore::SyncPolicies>> BlockStore::MakeSync(const Specs& specs,
                                                                       const ShardPlace& place) const {
  auto made = std::make_unique<SyncPolicies>();
  made->specs = specs;
  LW_ASSIGN_OR_RETURN(made->sync, MakeSyncPolicy(sync_, specs.sync));
  LW_ASSIGN_OR_RETURN(made->apply, MakeApplyMode(specs.apply, *made->sync.model));
  // All servers toss the coins of the job, unless the model has scope=server.
  const bool own_coins = made->sync.scope == CoinScope::kServer;
  made->coin_seed = own_coins ? Hash64({place.seed, place.server.value() + 1ULL}) : place.seed;
  return made;
}

Result<std::unique_ptr<BlockStore::TablePolicies>> BlockStore::MakePolicies(const wire::pb::Table& table,
                                                                            const ShardPlace& place) const {
  auto policies = std::make_unique<TablePolicies>();
  policies->name = table.name();
  policies->own_clock = static_cast<TableClock>(table.clock()) == TableClock::kOwn;
  LW_ASSIGN_OR_RETURN(policies->sync, MakeSync(SpecsOf(table, place), place));
  LW_ASSIGN_OR_RETURN(policies->optimizer, MakeOptimizer(optimizers_, table.optimizer()));
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
  return CheckUnmoved(block);
}

Result<BlockStore::Taken> BlockStore::Take(const wire::pb::TableMap& map, const ShardPlace& place,
                                           TimePoint now) {
  std::map<TableId, std::unique_ptr<TablePolicies>> made;
  std::map<TableId, std::unique_ptr<SyncPolicies>> other;
  for (const wire::pb::Table& table : map.tables()) {
    const auto named = [&table](const Status& status) {
      return status.WithContext(fmt::format("table \"{}\"", table.name()));
    };
    for (const wire::pb::Block& block : table.blocks()) LW_RETURN_IF_ERROR(CheckBlock(table, block));
    const TableId id(table.id());
    const auto known = policies_.find(id);
    if (known == policies_.end()) {
      auto policies = MakePolicies(table, place);
      if (!policies.ok()) return named(policies.status());
      made[id] = *std::move(policies);
      continue;
    }
    // Most maps change nothing of most tables, and a model may take long to make.
    const Specs specs = SpecsOf(table, place);
    if (specs == known->second->sync->specs) continue;
    auto sync = MakeSync(specs, place);
    if (!sync.ok()) return named(sync.status());
    other[id] = *std::move(sync);
  }
  policies_.merge(made);

  Taken taken;
  for (auto& [id, sync] : other) {
    Switch(id, std::move(sync), now);
    taken.switched.push_back(id);
  }
  for (const wire::pb::Table& table : map.tables()) {
    std::vector<BlockOptions> fresh;
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
      if (block.has_restore()) {
        taken.to_restore.push_back({options, block.restore()});
      } else {
        fresh.push_back(options);
      }
    }
    Status made_all = MakeAll(table, fresh, taken);
    if (!made_all.ok()) taken.refused.push_back({TableId(table.id()), std::move(made_all)});
  }
  return taken;
}

Status BlockStore::MakeAll(const wire::pb::Table& table, std::span<const BlockOptions> options,
                           Taken& taken) {
  if (options.empty()) return Status::Ok();
  const auto buffers = static_cast<std::uint64_t>(policies_.at(options[0].table)->optimizer->slots()) + 1;
  std::uint64_t bytes = 0;
  std::size_t largest = 0;
  for (const BlockOptions& block : options) {
    bytes += block.elements * sizeof(float) * buffers;
    largest = std::max(largest, block.elements);
  }
  const std::size_t before = blocks_.size();
  const std::size_t created_before = taken.created.size();
  bool memory = pool_.HasRoomFor(bytes);
  try {
    for (std::size_t i = 0; memory && i < options.size(); ++i) memory = Make(options[i])->Reserve();
    if (memory && MayStep(largest, buffers + 1)) {
      for (std::size_t i = before; i < blocks_.size(); ++i) taken.created.push_back(blocks_[i].get());
      return Status::Ok();
    }
  } catch (const std::bad_alloc&) {  // a table may have half a million blocks, and each takes some memory by
                                     // itself
    taken.created.resize(created_before);
  }
  DropNewest(before);
  const TableId id = options[0].table;
  const bool is_new =
      std::ranges::none_of(blocks_, [id](const auto& block) { return block->table() == id; }) &&
      std::ranges::none_of(taken.to_restore, [id](const ToRestore& r) { return r.options.table == id; });
  if (is_new) policies_.erase(id);
  return ResourceExhausted(
      "table \"{}\": no memory for its {} blocks here, {} bytes ({} arrays of values and optimizer state "
      "each): start "
      "more servers, give this one more memory (ulimit -v), or make the model smaller",
      table.name(), options.size(), bytes, buffers);
}

bool BlockStore::MayStep(std::size_t elements, std::size_t buffers) {
  std::vector<BufferRef> taken;  // they return to the pool, where the first step finds them
  for (std::size_t i = 0; i < buffers; ++i) {
    taken.push_back(pool_.Take(elements, i == 0 ? Arena::Use::kSent : Arena::Use::kKept));
    if (taken.back() == nullptr) return false;
  }
  return true;
}

void BlockStore::DropNewest(std::size_t kept) {
  for (; blocks_.size() > kept; blocks_.pop_back()) {
    const std::unique_ptr<Block>& block = blocks_.back();
    if (block->id().index() < by_id_.size()) by_id_[block->id().index()] = nullptr;
    bytes_ -= block->elements() * sizeof(float);
  }
}

std::size_t BlockStore::DropFrom(TableId first) {
  const auto stays = std::ranges::stable_partition(
      blocks_, [first](const std::unique_ptr<Block>& block) { return block->table() < first; });
  const std::size_t dropped = stays.size();
  DropNewest(blocks_.size() - dropped);
  policies_.erase(policies_.lower_bound(first), policies_.end());
  return dropped;
}

void BlockStore::Switch(TableId table, std::unique_ptr<SyncPolicies> to, TimePoint now) {
  TablePolicies& policies = *policies_.at(table);
  for (const auto& block : blocks_) {
    if (block->table() != table || !TakesAtOnce(*block)) continue;
    policies.taken_at_once = std::max(policies.taken_at_once, block->Save().progress.highest_sent);
  }
  policies.sync.swap(to);  // the old policy lives until every block has switched
  for (const auto& block : blocks_) {
    if (block->table() != table) continue;
    block->Switch(policies.sync->sync, policies.sync->apply, policies.sync->coin_seed, now);
  }
}

Block* BlockStore::Make(BlockOptions options) {
  const TablePolicies& policies = *policies_.at(options.table);
  // The table may have been switched while the block was on its way from a checkpoint.
  options.apply = policies.sync->apply;
  options.coin_seed = policies.sync->coin_seed;
  if (options.id.index() >= by_id_.size()) by_id_.resize(options.id.index() + 1);
  blocks_.push_back(
      std::make_unique<Block>(options, policies.sync->sync, *policies.optimizer, pool_, events_));
  by_id_[options.id.index()] = blocks_.back().get();
  bytes_ += options.elements * sizeof(float);
  return blocks_.back().get();
}

Result<Block*> BlockStore::Restore(const BlockOptions& options, const BlockState& state) {
  const auto slots = static_cast<std::size_t>(policies_.at(options.table)->optimizer->slots());
  if (state.version > Version(0) && state.slots.size() != slots) {
    return FailedPrecondition(
        "block {} was saved with {} arrays of optimizer state, wanted {}: is it another optimizer?",
        options.id.value(), state.slots.size(), slots);
  }
  // The record does not say how the block took pushes in.
  Iteration& taken = policies_.at(options.table)->taken_at_once;
  taken = std::max(taken, state.progress.highest_sent);
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

wire::pb::TableModel BlockStore::ModelOf(const Block& block) const {
  const SyncPolicies& said = *policies_.at(block.table())->sync;
  wire::pb::TableModel model;
  if (&block.sync() == &said.sync) {
    model.set_sync(said.specs.sync);
    model.set_apply(said.specs.apply);
  } else {
    model.set_sync(PrintSpec({{block.sync().resolved}}));
  }
  if (model.apply().empty()) model.set_apply(block.aggregates() ? "aggregate" : "immediate");
  return model;
}

bool BlockStore::TakesAtOnce(const Block& block) const {
  return !block.aggregates() || block.sync().model->SumsAhead();
}

bool BlockStore::MayHoldFrom(const Block& block, Iteration at) const {
  return TakesAtOnce(block) || policies_.at(block.table())->taken_at_once >= at;
}

wire::pb::WhyReply BlockStore::Explain(const wire::pb::Why& why, WorkerId asks) const {
  constexpr std::size_t kMissingMax = 16;  // more names help nobody
  wire::pb::WhyReply reply;
  reply.set_request(why.request());
  const Block* block = Find(BlockId(why.block()));
  if (block == nullptr) return reply;
  reply.set_known(true);
  reply.set_initialized(block->initialized());
  reply.set_v_train(block->v_train().value());
  reply.set_delayed(block->IsDelayed(asks));
  reply.set_timed(block->IsTimed());
  const std::vector<WorkerId> missing = block->Missing();
  for (std::size_t i = 0; i < std::min(missing.size(), kMissingMax); ++i) {
    reply.add_missing(missing[i].value());
  }
  return reply;
}

}  // namespace leeway
