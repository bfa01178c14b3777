// ChurnBooks: the pushes of every life of every rank and their outcomes, and the contents that the blocks
// must have.
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

// One life's knowledge of one block.
struct BlockBook {
  std::vector<Seq> taken;  // APPLIED and SUMMED, and not reported lost since
  // The term of the block that this stands for; 0: unknown. A life that did not return to a block that went
  // back to a checkpoint cannot know the losses there.
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

  // Checks that every cell of every block holds a value that the books of its life allow.
  void Check(const Cluster& cluster, const ChurnPlan& plan);

  std::vector<std::vector<LifeBook>> lives;  // by rank, then by life
  std::set<std::size_t> rules_set;           // of the plan's switches
  std::vector<std::string> problems;
  ChurnCounts counts;
};

}  // namespace leeway::sim
