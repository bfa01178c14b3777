// The tables in the scheduler's log: each whole, with its blocks, their terms and what they are restored
// from.
#include <utility>

#include "base/errors.h"
#include "node/scheduler/table_check.h"
#include "node/scheduler/table_registry.h"

namespace leeway {

bool TableRegistry::AddChanges(wire::pb::LogRecord& record) {
  for (const TableId id : changed_) {
    wire::pb::LoggedTable& table = *record.add_tables();
    *table.mutable_table() = tables_[id.index()].map;
    table.set_created(tables_[id.index()].created.value());
  }
  return !std::exchange(changed_, {}).empty();
}

void TableRegistry::AddAll(wire::pb::LogRecord& record) const {
  for (const Entry& entry : tables_) {
    wire::pb::LoggedTable& table = *record.add_tables();
    *table.mutable_table() = entry.map;
    table.set_created(entry.created.value());
  }
}

Status TableRegistry::Apply(const wire::pb::LogRecord& record) {
  for (const wire::pb::LoggedTable& table : record.tables()) {
    const Status applied = Apply(table);
    if (!applied.ok()) return applied.WithContext(fmt::format("table \"{}\"", table.table().name()));
  }
  return Status::Ok();
}

Status TableRegistry::Apply(const wire::pb::LoggedTable& logged) {
  const wire::pb::Table& table = logged.table();
  const TableId id(table.id());
  if (id.index() > tables_.size() || id.index() >= kTablesMax) {
    return InvalidArgument("got id {}, wanted at most {}", id.value(), tables_.size());
  }
  const auto [named, is_new] = by_name_.try_emplace(table.name(), id);
  if (named->second != id || is_new != (id.index() == tables_.size())) {
    return InvalidArgument("got id {}, wanted {} as before", id.value(), named->second.value());
  }
  LW_ASSIGN_OR_RETURN(TableSpec spec, CheckedSpec(table));
  LW_RETURN_IF_ERROR(CheckPolicies(spec));
  std::uint64_t elements = 0;
  for (const wire::pb::Block& block : table.blocks()) {
    if (block.block() >= kBlocksMax || block.shard() >= shards_.size()) {
      return InvalidArgument("block {} on shard {}, wanted below {} and {}", block.block(), block.shard(),
                             kBlocksMax, shards_.size());
    }
    if (block.offset() != elements || block.elements() == 0 ||
        block.elements() > spec.elements() - elements) {
      return InvalidArgument("block {} has {} elements from {} on, wanted some of {} from {} on",
                             block.block(), block.elements(), block.offset(), spec.elements(), elements);
    }
    elements += block.elements();
    blocks_ = std::max<std::uint64_t>(blocks_, block.block() + 1);
  }
  if (elements != spec.elements()) {
    return InvalidArgument("got {} elements in its blocks, wanted {}", elements, spec.elements());
  }
  if (id.index() == tables_.size()) tables_.emplace_back();
  tables_[id.index()] = {std::move(spec), table, Epoch(logged.created())};
  return Status::Ok();
}

}  // namespace leeway
