// ClientTables: the user's side of the tables: their buffers, which tables are started, and what the user has
// done with each in this iteration.
//
// It asks the node nothing; the node shares only the ParameterPair of each table. Thread rule: the worker's.
// Lifetime rule: it outlives the node, which lands values in the buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/table.h"
#include "leeway/worker.h"
#include "node/worker/parameter_pair.h"

namespace leeway {

struct ClientTable {
  // The members that every call reads come first, together in one line of a cache.
  bool started = false;
  TableClock clock = TableClock::kJob;
  std::size_t elements = 0;
  ParameterPair* pair = nullptr;
  std::int64_t pushed = -1;  // how many Clocks came before the last Push
  std::int64_t synced = -1;  // and before the last Sync
  bool use_told = false;     // the node knows that it is used
  Status refusal;            // of Start
  TableSpec spec;
  [[nodiscard]] bool own_clock() const { return clock == TableClock::kOwn; }
  [[nodiscard]] Status CheckGradient(std::span<const float> gradient, const PushOptions& how) const;
  [[nodiscard]] Status CheckRoom(std::span<const float> values) const;
};

class ClientTables {
 public:
  // Returns the buffers of a new table. An error if the user gave an impossible shape, or one buffer.
  [[nodiscard]] Result<ParameterPair*> MakeBuffers(const TableSpec& spec, TableBuffers buffers);
  // The node has created the table under `id`.
  [[nodiscard]] Status Add(TableId id, const TableSpec& spec, ParameterPair& pair);
  // Start has ended: it has started all tables since the last one, or refused them.
  void OnStarted(const Status& outcome);

  [[nodiscard]] Result<ClientTable*> FindStarted(TableId id);
  // Returns whether the values of iteration `now` are here.
  [[nodiscard]] bool Ready(TableId id, Iteration now) const;

  // Returns the table, if it may take this push in iteration `now`.
  [[nodiscard]] Result<ClientTable*> CheckPush(TableId id, std::span<const float> gradient,
                                               const PushOptions& how, Iteration now);
  // Tables with a clock of their own need no mark, and a callback may push them meanwhile.
  void MarkPushed(ClientTable& table) const {
    if (!table.own_clock()) table.pushed = clocks_;
  }
  // Tables that were marked together, and when each was pushed before.
  using Marked = std::vector<std::pair<ClientTable*, std::int64_t>>;
  // Checks all pushes and marks their tables; on an error it marks none.
  [[nodiscard]] Result<Marked> MarkAllPushed(std::span<const TablePush> pushes, Iteration now);
  static void Unmark(const Marked& marked);

  [[nodiscard]] bool IsSynced(const ClientTable& table) const { return table.synced == clocks_; }
  void MarkSynced(TableId id, ClientTable& table);
  // The tables that were used since the last call, in order: all of them in the first iterations, then only
  // those that are used for the first time.
  [[nodiscard]] std::vector<TableId> TakeUses() { return std::exchange(uses_, {}); }
  void OnClock() { ++clocks_; }
  // The next Sync of every table takes the final values, even after a Sync in this iteration.
  void OnFinalValues();

 private:
  std::int64_t clocks_ = 0;  // iterations that this process has ended
  std::vector<TableId> uses_;
  // One for each CreateTable, also for tables that the node refused.
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  std::vector<std::unique_ptr<ClientTable>> tables_;  // by id
};

}  // namespace leeway
