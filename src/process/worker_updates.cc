// Updates of several tables as one call to the node.
#include <memory>
#include <utility>

#include "process/worker_client.h"

namespace leeway {

Result<std::vector<Ticket>> WorkerClient::UpdateAll(std::vector<TableUpdate> updates) {
  LW_RETURN_IF_ERROR(CheckMember());
  std::vector<std::pair<Table*, std::int64_t>> marked;  // and when they were updated before
  const auto take_back = [&marked](Status why) {
    for (const auto& [table, updated] : marked) table->updated = updated;
    return why;
  };
  for (const TableUpdate& update : updates) {
    const Result<Table*> table = CheckUpdate(update.table, update.gradient, update.how);
    if (!table.ok()) return take_back(table.status());
    // Marked at once, so that a duplicate table is noticed.
    marked.emplace_back(*table, std::exchange((*table)->updated, clocks_));
  }
  if (record_ != nullptr) {
    for (const TableUpdate& update : updates) record_->NoteReady(update.table);
  }
  std::vector<Ticket> tickets;
  auto calls = std::make_shared<std::vector<Call>>();  // shared: a std::function can be copied
  for (TableUpdate& update : updates) {
    tickets.push_back(tickets_.New(1));
    calls->push_back(Lending(Call::Kind::kUpdate, update.table, update.gradient, std::move(update.how)));
    calls->back().ticket = tickets.back();
  }
  const Status queued = calls_.Push(Call::Of([this, calls] {
                                      for (Call& call : *calls) Make(call);
                                    }),
                                    answer_max_);
  if (queued.ok()) return tickets;
  for (const Ticket ticket : tickets) {
    tickets_.Forget(ticket);
    tickets_.Finish(ticket, queued);
  }
  return take_back(queued);
}

}  // namespace leeway
