#include "node/worker/communication.h"

namespace leeway {

void Communication::Begin(const WorkerTable& table, Iteration iteration, TimePoint ready) {
  if (account_.IsOpen(table.id)) trace_.EndPull(table, account_.OpenIteration(table.id));
  account_.Ready(table.id, iteration, ready, clock_.Now());
  trace_.BeginPull(table, iteration);
}

void Communication::NoteArrival(const WorkerTable& table) {
  if (!account_.IsOpen(table.id)) return;
  const Iteration asked_in = account_.OpenIteration(table.id);
  account_.Arrived(table.id, table.landing.published(), table.ended_held, clock_.Now());
  if (!account_.IsOpen(table.id)) trace_.EndPull(table, asked_in);
}

}  // namespace leeway
