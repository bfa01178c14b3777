// TableDefinitions: tables that workers define, until every shard has them. A shard may refuse a table that
// it has no memory for.
//
// A definition is settled when every shard has answered to it. If one refuses, all tables of the definition
// are withdrawn everywhere, and whoever asked for them is told why. No worker hears of a table before that,
// so nothing of it is in use. Definitions are made one after the other. Thread rule: that of the scheduler
// node. Lives as long as its actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/scheduler_actions.h"
#include "node/scheduler/table_registry.h"
#include "wire/control.pb.h"

namespace leeway {

class TableDefinitions {
 public:
  // Borrows policies, log and actions. `made` is called when tables were made, and every shard has them.
  TableDefinitions(const JobOptions& job, const SchedulerPolicies& policies, std::uint64_t payload_bytes_max,
                   Log& log, SchedulerActions& actions, std::function<void()> made);

  [[nodiscard]] TableRegistry& tables() { return tables_; }
  [[nodiscard]] const TableRegistry& tables() const { return tables_; }

  // Adds to an answer what its worker alone hears.
  using Complete = std::function<void(wire::pb::TableMap&)>;
  // Answers with a TableMap, once every shard has the tables. A definition that makes tables waits until the
  // one before is settled.
  void Define(ConnectionId id, const wire::pb::DefineTables& request, const Complete& complete);
  // An error ends the job: a table that is in use was refused.
  [[nodiscard]] Status TakeRefusals(const ShardSeat& seat, const wire::pb::EpochAck& ack);
  // The job is over: nothing is withdrawn any more.
  void Stop() { stopped_ = true; }

 private:
  // Tables that no worker has heard of yet: they can still be withdrawn.
  struct Unsettled {
    std::size_t tables_before = 0;
    Epoch epoch{};     // in which they were made, or withdrawn
    Status refusal{};  // the first
    bool withdrawn = false;
  };
  // Every shard has answered to the tables that were made last. Withdraws them if one shard refused.
  void Settle();
  void ReplyError(ConnectionId id, wire::pb::TableMap& reply, const Status& why);

  Log& log_;
  SchedulerActions& actions_;
  const std::function<void()> made_;
  TableRegistry tables_;
  std::optional<Unsettled> unsettled_;
  Status last_refusal_;
  bool stopped_ = false;
};

}  // namespace leeway
