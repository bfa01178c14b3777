// BlockStore: the blocks that a shard owns, by their dense id, and the policies of their tables, made once
// per table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/registry.h"
#include "block/block.h"
#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

// Which shard this is, and the job's seed.
struct ShardPlace {
  ShardId shard;
  ServerId server;
  std::uint64_t seed = 0;
};

class BlockStore {
 public:
  static constexpr std::uint32_t kBlockIdMax = 1U << 24;

  // Borrows all references for its life.
  BlockStore(const Registry<SyncModel>& sync, const Registry<Optimizer>& optimizers, BufferPool& pool,
             BlockEvents& events);

  // A block that begins with a record of a checkpoint. The store has it only after Restore.
  struct ToRestore {
    BlockOptions options;
    wire::pb::Restore from;
  };
  // A table that this shard has no memory for. The store has none of its blocks.
  struct Refused {
    TableId table;
    Status why;  // names the table, the bytes and what to do
  };
  struct Taken {
    std::vector<Block*> created;
    std::vector<Refused> refused;
    std::vector<ToRestore> to_restore;
    std::vector<TableId> switched;  // known before, with other synchronization now
  };
  // Makes the blocks of the map that belong to `place` and are not here yet. Reserves memory for their values
  // and the optimizer's state. Blocks that are here follow the synchronization that the map has for this
  // server. On an error (a spec that this build does not know, a block that was known differently) nothing
  // has changed.
  [[nodiscard]] Result<Taken> Take(const wire::pb::TableMap& map, const ShardPlace& place, TimePoint now);
  // Drops the tables from this id on, and their blocks. Returns how many blocks it dropped.
  std::size_t DropFrom(TableId first);
  // Makes a block with this state. An error if the state does not fit the block.
  [[nodiscard]] Result<Block*> Restore(const BlockOptions& options, const BlockState& state);
  // Null for a block that is not here.
  [[nodiscard]] Block* Find(BlockId id) const {
    return id.index() < by_id_.size() ? by_id_[id.index()] : nullptr;
  }
  // In the order of their making.
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& all() const { return blocks_; }
  // Counts the values of all blocks.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] BlockCounters Sum() const;
  // REQUIRES: a block of this store.
  [[nodiscard]] const std::string& TableName(const Block& block) const;
  [[nodiscard]] bool IsOwnClock(const Block& block) const;
  // Whether a block applies pushes as they come. Workers see different values of it in one iteration.
  [[nodiscard]] bool TakesAtOnce(const Block& block) const;
  // Whether a block may hold pushes of iteration `at` or later when it reaches `at`. It may if it applies
  // pushes as they come, or did before a switch.
  [[nodiscard]] bool MayHoldFrom(const Block& block, Iteration at) const;
  // The synchronization that a table's blocks have here, as the map said it. REQUIRES: a table of this store.
  [[nodiscard]] const std::string& SyncOf(TableId table) const {
    return policies_.at(table)->sync->specs.sync;
  }
  // The model that a block follows now, read from the block itself.
  [[nodiscard]] wire::pb::TableModel ModelOf(const Block& block) const;
  // Tells a worker why it waits for a block. The reply says whether the block is here.
  [[nodiscard]] wire::pb::WhyReply Explain(const wire::pb::Why& why, WorkerId asks) const;

 private:
  // The specs of a table on this server, as the map said them.
  struct Specs {
    std::string sync, apply;
    friend bool operator==(const Specs&, const Specs&) = default;
  };
  // A switch replaces all of this.
  struct SyncPolicies {
    Specs specs;
    SyncPolicy sync;
    ApplyMode apply;
    std::uint64_t coin_seed = 0;
  };
  struct TablePolicies {
    std::string name;  // of the table
    bool own_clock = false;
    std::unique_ptr<SyncPolicies> sync;  // borrowed by the table's blocks
    Iteration taken_at_once{-1};         // the highest iteration that may have been, before the last switch
    OptimizerPtr optimizer;
  };
  [[nodiscard]] static Specs SpecsOf(const wire::pb::Table& table, const ShardPlace& place);
  [[nodiscard]] Result<std::unique_ptr<SyncPolicies>> MakeSync(const Specs& specs,
                                                               const ShardPlace& place) const;
  [[nodiscard]] Result<std::unique_ptr<TablePolicies>> MakePolicies(const wire::pb::Table& table,
                                                                    const ShardPlace& place) const;
  Block* Make(BlockOptions options);
  // Makes these blocks of one table and reserves their memory. Without enough memory it makes none of them
  // and returns an error.
  [[nodiscard]] Status MakeAll(const wire::pb::Table& table, std::span<const BlockOptions> options,
                               Taken& taken);
  // Whether the pool still has memory for a step of a block of so many elements.
  [[nodiscard]] bool MayStep(std::size_t elements, std::size_t buffers);
  // Drops all but the first `kept` blocks.
  void DropNewest(std::size_t kept);
  void Switch(TableId table, std::unique_ptr<SyncPolicies> to, TimePoint now);
  [[nodiscard]] Status CheckBlock(const wire::pb::Table& table, const wire::pb::Block& block) const;

  const Registry<SyncModel>& sync_;
  const Registry<Optimizer>& optimizers_;
  BufferPool& pool_;
  BlockEvents& events_;
  std::map<TableId, std::unique_ptr<TablePolicies>> policies_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Block*> by_id_;
  std::uint64_t bytes_ = 0;
};

}  // namespace leeway
