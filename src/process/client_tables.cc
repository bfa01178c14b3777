#include "process/client_tables.h"

#include <limits>

#include "base/errors.h"
#include "node/worker/use_order.h"

namespace leeway {
namespace {

// Values of one table: 64 GiB of them. A larger shape is a mistake, not a table of one machine.
constexpr std::uint64_t kElementsMax = 1ULL << 34;

}  // namespace

Status ClientTable::CheckGradient(std::span<const float> gradient, const PushOptions& how) const {
  if (gradient.size() != elements) {
    return InvalidArgument("table \"{}\": got a gradient of {} values, wanted {}", spec.name, gradient.size(),
                           elements);
  }
  if (how.samples == 0)
    return InvalidArgument("table \"{}\": a gradient of 0 samples, wanted at least 1", spec.name);
  return Status::Ok();
}

Status ClientTable::CheckRoom(std::span<const float> values) const {
  if (values.size() == elements) return Status::Ok();
  return InvalidArgument("table \"{}\": got room for {} values, wanted {}", spec.name, values.size(),
                         elements);
}

Result<ParameterPair*> ClientTables::MakeBuffers(const TableSpec& spec, TableBuffers buffers) {
  if ((buffers.first == nullptr) != (buffers.second == nullptr)) {
    return InvalidArgument("table \"{}\": one buffer given, wanted both or none", spec.name);
  }
  for (const std::int64_t dimension : spec.shape) {
    if (dimension <= 0) {
      return InvalidArgument("table \"{}\": dimension {} in its shape, wanted at least 1", spec.name,
                             dimension);
    }
  }
  std::uint64_t elements = 1;
  for (const std::int64_t dimension : spec.shape) {
    if (static_cast<std::uint64_t>(dimension) > kElementsMax / elements) {
      return InvalidArgument("table \"{}\": a shape of more than {} values, wanted at most that", spec.name,
                             kElementsMax);
    }
    elements *= static_cast<std::uint64_t>(dimension);
  }
  pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), buffers.first, buffers.second));
  return pairs_.back().get();
}

Status ClientTables::Add(TableId id, const TableSpec& spec, ParameterPair& pair) {
  // The node made a table for a call that was broken off before its answer: the two counts differ now.
  if (id.index() != tables_.size()) {
    return FailedPrecondition("table \"{}\": an earlier CreateTable was broken off; start the worker anew",
                              spec.name);
  }
  auto table = std::make_unique<ClientTable>();
  table->spec = spec;
  table->clock = spec.clock;
  table->elements = spec.elements();
  table->pair = &pair;
  tables_.push_back(std::move(table));
  return Status::Ok();
}

void ClientTables::OnStarted(const Status& outcome) {
  for (const std::unique_ptr<ClientTable>& table : tables_) {
    if (table->started || !table->refusal.ok()) continue;
    table->started = outcome.ok();
    table->refusal = outcome;
    table->pushed = table->synced = clocks_ - 1;
  }
}

Result<ClientTable*> ClientTables::FindStarted(TableId id) {
  if (id.index() >= tables_.size())
    return NotFound("no table {}; {} were created", id.value(), tables_.size());
  ClientTable* table = tables_[id.index()].get();
  if (table->started) return table;
  if (!table->refusal.ok()) {
    return FailedPrecondition("table \"{}\" was refused: {}", table->spec.name, table->refusal.message());
  }
  return FailedPrecondition("table \"{}\" is not started; call Start first", table->spec.name);
}

bool ClientTables::Ready(TableId id, Iteration now) const {
  return id.index() < tables_.size() && tables_[id.index()]->pair->ready() >= now - 1;
}

Result<ClientTable*> ClientTables::CheckPush(TableId id, std::span<const float> gradient,
                                             const PushOptions& how, Iteration now) {
  LW_ASSIGN_OR_RETURN(ClientTable * table, FindStarted(id));
  if (!table->own_clock() && table->pushed == clocks_) {
    return FailedPrecondition("table \"{}\" was pushed in iteration {} already; call Clock first",
                              table->spec.name, now.value());
  }
  LW_RETURN_IF_ERROR(table->CheckGradient(gradient, how));
  return table;
}

Result<ClientTables::Marked> ClientTables::MarkAllPushed(std::span<const TablePush> pushes, Iteration now) {
  Marked marked;
  for (const TablePush& push : pushes) {
    const Result<ClientTable*> table = CheckPush(push.table, push.gradient, push.how, now);
    if (!table.ok()) {
      Unmark(marked);
      return table.status();
    }
    // Marked at once, so that a duplicate table is noticed.
    marked.emplace_back(*table, (*table)->pushed);
    MarkPushed(**table);
  }
  return marked;
}

void ClientTables::Unmark(const Marked& marked) {
  for (const auto& [table, pushed] : marked) {
    if (!table->own_clock()) table->pushed = pushed;
  }
}

void ClientTables::MarkSynced(TableId id, ClientTable& table) {
  table.synced = clocks_;
  if (table.own_clock() || (table.use_told && clocks_ >= UseOrder::kIterations)) return;
  table.use_told = true;
  uses_.push_back(id);
}

void ClientTables::OnFinalValues() {
  for (const std::unique_ptr<ClientTable>& table : tables_)
    table->synced = std::numeric_limits<std::int64_t>::min();
}

}  // namespace leeway
