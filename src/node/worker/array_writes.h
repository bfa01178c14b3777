// ArrayWrites: values that the user sets outside of any iteration: initial values, and arrays of tables.
//
// Lends the user's memory to the ports, and sees to it that values which lie in the table's own buffers are
// not written over meanwhile. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <functional>

#include "leeway/arena.h"
#include "node/worker/push_loans.h"
#include "node/worker/shard_ports.h"

namespace leeway {

class ArrayWrites {
 public:
  // Borrows `arena`. `freed` is called when the front buffer of a table is on loan no more.
  ArrayWrites(Arena& arena, std::function<void(WorkerTable&)> freed);

  // Both take `done` unless they return an error. Broadcast offers initial values, one offer at a time.
  [[nodiscard]] Status Broadcast(WorkerTable& table, LentGradient values, Done& done, PushLoans& loans,
                                 const ShardPorts& ports);
  // A block has taken its initial values, or refused them.
  void OnInitialized(WorkerBlock& block, bool refused, PushLoans& loans);
  // Blocks whose initial values are not acknowledged.
  [[nodiscard]] std::size_t open() const { return open_; }

  // Sets an array before the gradient of `iteration`.
  [[nodiscard]] Status Assign(WorkerTable& table, AssignedArray array, LentGradient values, Done& done,
                              Iteration iteration, std::uint64_t steps, PushLoans& loans, ShardPorts& ports);

 private:
  // Keeps the front buffer where it is until `done`, or lends a copy, if the offer lies in the table.
  void Guard(WorkerTable& table, LentGradient& offer, Done& done);

  Arena& arena_;
  const std::function<void(WorkerTable&)> freed_;
  std::size_t open_ = 0;
};

}  // namespace leeway
