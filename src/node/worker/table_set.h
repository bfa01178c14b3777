// TableSet: the tables of a worker, their blocks by id, and answers about all of them together.
//
// Owns the tables, the buffers that answers land in, and the records of idle iterations by group. Thread
// rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "block/buffer_pool.h"
#include "leeway/arena.h"
#include "node/worker/table.h"

namespace leeway {

class TableSet {
 public:
  explicit TableSet(Arena& arena);

  [[nodiscard]] Result<TableId> Create(const TableSpec& spec, ParameterPair& pair);
  // The tables that were created and not asked for. They count as asked for from now on.
  [[nodiscard]] std::vector<WorkerTable*> TakeCreated();
  // As WorkerTable::Place. An error also if the map has a block id that no table may have.
  [[nodiscard]] static Status Place(WorkerTable& table, const wire::pb::Table& map, std::size_t shards);
  // From now on FindBlock knows the blocks of the table. REQUIRES: placed.
  void Index(WorkerTable& table);

  [[nodiscard]] Result<WorkerTable*> FindPlaced(TableId id) const;
  // Null: no table of this worker has it.
  [[nodiscard]] WorkerBlock* FindBlock(BlockId id) const {
    return id.index() < blocks_.size() ? blocks_[id.index()] : nullptr;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<WorkerTable>>& all() const { return tables_; }
  // The tables of the job's clock that have their blocks.
  template <typename Each>
  void ForEachJobClock(Each each) const {
    for (const std::unique_ptr<WorkerTable>& table : tables_) {
      if (table->state == WorkerTable::State::kPlaced && !table->IsOwnClock()) each(*table);
    }
  }
  // The blocks of all tables, in the order of their ids.
  template <typename Each>
  void ForEachBlock(Each each) const {
    for (WorkerBlock* block : blocks_) {
      if (block != nullptr) each(*block);
    }
  }
  // The first block, in the order of ids, that `is` says yes to; null if it says no to all.
  template <typename Is>
  [[nodiscard]] WorkerBlock* FindBlockThat(Is is) const {
    for (WorkerBlock* block : blocks_) {
      if (block != nullptr && is(*block)) return block;
    }
    return nullptr;
  }

  // The bytes of all tables with the clock of this one: they land in turn before the first is used again.
  [[nodiscard]] std::uint64_t BytesLikeThis(const WorkerTable& table) const {
    return table.IsOwnClock() ? own_clock_bytes_ : job_clock_bytes_;
  }
  [[nodiscard]] BufferPool& pool() { return pool_; }
  // Marks the iteration idle in the records of all groups but this one.
  void NoteIdle(std::uint32_t group, Iteration iteration);
  // Every push of the job's clock below the result has its verdict. At most `now`.
  [[nodiscard]] Iteration SettledBefore(Iteration now) const;
  // A table holds gradients that no exchange has taken yet.
  [[nodiscard]] bool HoldsSums() const;

 private:
  BufferPool pool_;
  std::map<std::uint32_t, IdleIterations> groups_;    // of tables: see TableSpec::group
  IdleIterations never_idle_;                         // of tables with clocks of their own
  std::vector<std::unique_ptr<WorkerTable>> tables_;  // by TableId
  std::vector<WorkerBlock*> blocks_;                  // by BlockId; null: of a table that is not ours
  std::uint64_t job_clock_bytes_ = 0, own_clock_bytes_ = 0;
};

}  // namespace leeway
