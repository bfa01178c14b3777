// Communication: what a worker's tables exchange, as the account of overlap counts it and a trace shows it.
//
// Training and its ports tell it events; it decides nothing. Thread rule: the node's.
#pragma once

#include "leeway/env.h"
#include "leeway/ids.h"
#include "node/worker/exchange_trace.h"
#include "node/worker/overlap_account.h"
#include "node/worker/table.h"

namespace leeway {

class Communication {
 public:
  // Both outlive it; `trace` may be null.
  Communication(const Clock& clock, Trace* trace) : clock_(clock), trace_(trace) {}

  // The table pushes and pulls in this iteration, since `ready`.
  void Begin(const WorkerTable& table, Iteration iteration, TimePoint ready);
  // A frame with a part of the table's gradient was given to the transport.
  void NoteLeft(const WorkerTable& table, Iteration iteration) {
    account_.Left(table.id, iteration, clock_.Now());
  }
  // The values of the table may be here.
  void NoteArrival(const WorkerTable& table);

  [[nodiscard]] OverlapAccount& account() { return account_; }
  [[nodiscard]] const OverlapAccount& account() const { return account_; }
  [[nodiscard]] const ExchangeTrace& trace() const { return trace_; }

 private:
  const Clock& clock_;
  OverlapAccount account_;
  ExchangeTrace trace_;
};

}  // namespace leeway
