// BlockRules: what the synchronization models of the blocks have the worker do by itself: skip ahead, and
// hold an iteration back.
//
// Gives every block its model, as the scheduler's maps name them, and answers for all blocks together. Thread
// rule: the node's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/registry.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"
#include "node/worker/block_model.h"
#include "node/worker/table_set.h"

namespace leeway {

class BlockRules {
 public:
  // Borrows `models` for its life.
  explicit BlockRules(const Registry<SyncModel>& models) : models_(models) {}

  // Gives the table's blocks the models that the map names; `job_sync` where it names none. `servers` has the
  // server of each shard.
  [[nodiscard]] Status TakeModels(WorkerTable& table, const wire::pb::Table& map, const std::string& job_sync,
                                  std::span<const std::uint32_t> servers);
  // Looks at the models of all blocks again. None of them binds a worker that is no member.
  void Count(const TableSet& tables, bool is_member);
  [[nodiscard]] bool any_skips() const { return any_skips_; }
  [[nodiscard]] bool any_bounded() const { return any_bounded_; }

  // The block that an iteration waits for to begin, since its pushes lack verdicts (bounded); null: none.
  [[nodiscard]] WorkerBlock* HeldUp(const TableSet& tables, Iteration iteration) const;
  // The lowest iteration that the blocks which skip ahead have told; kIterationMax if none skips.
  [[nodiscard]] Iteration LowestTold(const TableSet& tables) const;
  // An error if `what`, a call that waits for every member, may never end because a table skips ahead.
  [[nodiscard]] Status MayMeet(const std::string& what, const TableSet& tables) const;
  // The specs of the models that the blocks of these tables (a glob) have, each once.
  [[nodiscard]] static std::vector<std::string> SyncsOf(const std::string& glob, const TableSet& tables);

 private:
  BlockModels models_;
  bool any_skips_ = false, any_bounded_ = false;
};

}  // namespace leeway
