// UseOrder: the order in which an iteration uses its tables first, learned from the first iterations, as the
// priority of each table.
//
// A forward pass uses the tables of the first layers first, and backward has their gradients last. So the
// values of these tables are the next that somebody waits for. Thread rule: the node's.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

class UseOrder {
 public:
  // The order may change in so many iterations; after them only tables that are new get a place.
  static constexpr int kIterations = 3;

  // The table is used in this iteration.
  void NoteUse(TableId table);
  // All tables that this iteration has used, in order, as somebody knows who saw more of them.
  void NoteAllUses(std::span<const TableId> tables) { used_.assign(tables.begin(), tables.end()); }
  // The iteration has ended. True: priorities may have changed.
  bool EndIteration();
  // 0: used first; 255: used last, or not known to be used.
  [[nodiscard]] std::uint8_t PriorityOf(TableId table) const;

 private:
  [[nodiscard]] bool Knows(TableId table) const { return place_.contains(table); }

  std::vector<TableId> used_;   // in this iteration
  std::vector<TableId> order_;  // learned
  std::map<TableId, std::size_t> place_;
  int iterations_ = 0;  // learned from
};

}  // namespace leeway
