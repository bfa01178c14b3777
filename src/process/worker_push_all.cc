// Pushes of several tables as one call to the node.
#include <memory>
#include <utility>

#include "process/worker_client.h"

namespace leeway {

Result<std::vector<Ticket>> WorkerClient::PushAll(std::vector<TablePush> pushes) {
  LW_RETURN_IF_ERROR(CheckMember());
  std::vector<std::pair<Table*, std::int64_t>> marked;  // and when they were pushed before
  const auto take_back = [&marked](Status why) {
    for (const auto& [table, pushed] : marked) table->pushed = pushed;
    return why;
  };
  for (const TablePush& push : pushes) {
    const Result<Table*> table = CheckPush(push.table, push.gradient, push.how);
    if (!table.ok()) return take_back(table.status());
    // Marked at once, so that a duplicate table is noticed.
    marked.emplace_back(*table, std::exchange((*table)->pushed, clocks_));
  }
  if (record_ != nullptr) {
    for (std::size_t i = 0; i < pushes.size(); ++i) {
      if (!marked[i].first->own_clock()) record_->NoteReady(pushes[i].table);
    }
  }
  std::vector<Ticket> tickets;
  auto calls = std::make_shared<std::vector<Call>>();  // shared: a std::function can be copied
  for (TablePush& push : pushes) {
    tickets.push_back(tickets_.New(1));
    calls->push_back(Lending(Call::Kind::kPush, push.table, push.gradient, std::move(push.how)));
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
