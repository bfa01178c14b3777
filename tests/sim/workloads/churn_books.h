// ChurnBooks: what every life of every rank pushed and was told of it, and what the blocks must hold then.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "sim/cluster.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/churn_plan.h"

namespace leeway::sim {

// What one life knows of one block.
struct BlockBook {
  std::vector<Seq> taken;  // APPLIED and SUMMED, and not reported lost since
  // The term of the block that this stands for; 0: not known. A life that did not come back to a block that
  // was taken back to a checkpoint cannot say what was lost there.
  Term term{0};
};

struct LifeBook {
  std::map<std::pair<std::uint32_t, BlockId>, BlockBook> blocks;                 // by table and block
  std::vector<std::uint64_t> pushed = std::vector<std::uint64_t>(kChurnTables);  // by table
  bool stopped = false;  // at times, perhaps until all was over
  bool ended_well = false;
};

struct ChurnBooks {
  explicit ChurnBooks(std::uint32_t workers) : lives(workers) {}

  // Every cell of every block holds what the books of its life allow.
  void Check(const Cluster& cluster, const ChurnPlan& plan);

  std::vector<std::vector<LifeBook>> lives;  // by rank, then by life
  std::set<std::size_t> rules_set;           // of the plan's switches
  std::vector<std::string> problems;
  ChurnCounts counts;
};

}  // namespace leeway::sim
