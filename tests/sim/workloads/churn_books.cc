#include "sim/workloads/churn_books.h"

#include <fmt/format.h>

namespace leeway::sim {

void ChurnBooks::Check(const Cluster& cluster, const ChurnPlan& plan) {
  std::uint32_t next = 0;
  for (std::uint32_t table = 0; table < kChurnTables; ++table) {
    // There are as many blocks as multiples of the cells: each block is one of them.
    for (std::uint32_t i = 0; i < 1 + table; ++i) {
      const BlockId id(next++);
      const Block* block = cluster.FindBlock(id);
      // A server that was killed after all workers had their final values does not restart, or the job is
      // over before it has read its blocks.
      if (block == nullptr && (cluster.AnyServerGone() || counts.server_restarts > 0)) continue;
      if (block == nullptr || block->values().size() != plan.cells()) {
        return problems.push_back(fmt::format("block {}: no values at the end", id.value()));
      }
      for (std::uint32_t rank = 0; rank < plan.job.workers; ++rank) {
        for (std::uint32_t life = 0; life < kLivesMax; ++life) {
          const float held = block->values()[rank * kLivesMax + life];
          const bool lived = life < lives[rank].size();
          const LifeBook none;
          const LifeBook& book = lived ? lives[rank][life] : none;
          const auto found = book.blocks.find({table, id});
          const BlockBook unknown;
          const BlockBook& known = found == book.blocks.end() ? unknown : found->second;
          const bool certain = known.term == block->term();
          const std::uint64_t least = certain ? known.taken.size() : 0;
          const std::uint64_t most = certain && book.ended_well ? least : book.pushed[table];
          counts.uncertain += most - least;
          if (certain && lived) ++counts.certain;
          if (held >= static_cast<float>(least) && held <= static_cast<float>(most)) {
            counts.uncertain_taken += static_cast<std::uint64_t>(held) - least;
            continue;
          }
          problems.push_back(
              fmt::format("table {} block {}: {} pushes of worker {} life {} are in it, wanted {} to {}",
                          table, id.value(), held, rank, life, least, most));
        }
      }
    }
  }
}

}  // namespace leeway::sim
