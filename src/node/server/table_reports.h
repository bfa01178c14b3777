// TableReports: how the tables of a shard stand, as it reports them with every beat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "block/block.h"
#include "leeway/ids.h"
#include "node/server/block_store.h"
#include "node/server/delayed_pulls.h"
#include "wire/control.pb.h"

namespace leeway {

class TableReports {
 public:
  // So many tables have a row of their own, in the order of their ids; one more row stands for the rest. The
  // nets that people train have some hundred tables. A report with all rows has about 80 kB.
  static constexpr std::size_t kRowsMax = 1024;

  // A pull of this table had to wait.
  void NoteDelay(TableId table, MemberKey who, Iteration progress) { delays_[table].Note(who, progress); }
  void AddTo(const BlockStore& blocks, wire::pb::Report& report) const;

 private:
  std::map<TableId, DelayedPulls> delays_;
};

}  // namespace leeway
