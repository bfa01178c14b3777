// The tables in the scheduler's log. Each is whole, with its blocks, their terms, and the files that they are
// restored from.
#include <utility>

#include "base/errors.h"
#include "node/map_block.h"
#include "node/scheduler/table_check.h"
#include "node/scheduler/table_registry.h"

namespace leeway {

wire::pb::LoggedTable TableRegistry::Logged(const Entry& entry) const {
  wire::pb::LoggedTable logged;
  *logged.mutable_table() = entry.map;
  // As defined: the rules give its synchronization again.
  logged.mutable_table()->set_sync(entry.spec.sync);
  logged.mutable_table()->set_apply(entry.spec.apply);
  logged.mutable_table()->clear_of_servers();
  logged.set_created(entry.created.value());
  return logged;
}

bool TableRegistry::AddChanges(wire::pb::LogRecord& record) {
  const bool withdrawn = withdrawn_.has_value();
  if (withdrawn) record.set_tables_kept(static_cast<std::uint32_t>(*std::exchange(withdrawn_, std::nullopt)));
  for (const TableId id : changed_) *record.add_tables() = Logged(tables_[id.index()]);
  const bool rules = std::exchange(rules_changed_, false);
  if (rules) choices_.AddTo(*record.mutable_rules());
  return !std::exchange(changed_, {}).empty() || rules || withdrawn;
}

void TableRegistry::AddAll(wire::pb::LogRecord& record) const {
  for (const Entry& entry : tables_) *record.add_tables() = Logged(entry);
  choices_.AddTo(*record.mutable_rules());
}

Status TableRegistry::Apply(const wire::pb::LogRecord& record) {
  // A log without rules belongs to a job without rules.
  if (record.has_rules() || record.whole()) LW_RETURN_IF_ERROR(Apply(record.rules()));
  if (record.has_tables_kept()) {
    Withdraw(record.tables_kept());
    withdrawn_.reset();
  }
  for (const wire::pb::LoggedTable& table : record.tables()) {
    const Status applied = Apply(table);
    if (!applied.ok()) return applied.WithContext(fmt::format("table \"{}\"", table.table().name()));
  }
  return Status::Ok();
}

Status TableRegistry::Apply(const wire::pb::LoggedRules& rules) {
  LW_RETURN_IF_ERROR(choices_.Take(rules));
  switched_ = rules.set_size() > 0;
  for (Entry& entry : tables_) LW_RETURN_IF_ERROR(choices_.Fill(entry.spec, entry.map));
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
    LW_RETURN_IF_ERROR(CheckUnmoved(block));
    elements += block.elements();
    blocks_ = std::max<std::uint64_t>(blocks_, block.block() + 1);
  }
  if (elements != spec.elements()) {
    return InvalidArgument("got {} elements in its blocks, wanted {}", elements, spec.elements());
  }
  Entry entry{std::move(spec), table, Epoch(logged.created())};
  LW_RETURN_IF_ERROR(choices_.Fill(entry.spec, entry.map));
  if (id.index() == tables_.size()) tables_.emplace_back();
  tables_[id.index()] = std::move(entry);
  return Status::Ok();
}

}  // namespace leeway
