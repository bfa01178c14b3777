#include "node/worker/block_rules.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.h"
#include "sync/sync_rules.h"

namespace leeway {

Status BlockRules::TakeModels(WorkerTable& table, const wire::pb::Table& map, const std::string& job_sync,
                              std::span<const std::uint32_t> servers) {
  const std::string& sync = map.sync().empty() ? job_sync : map.sync();
  for (WorkerBlock& block : table.blocks) {
    const std::uint32_t server = servers[block.shard.index()];
    const auto of_server = std::ranges::find_if(
        map.of_servers(), [server](const wire::pb::ServerSync& entry) { return entry.server() == server; });
    const bool own = of_server != map.of_servers().end();
    const std::string& apply = own ? of_server->apply() : map.apply();
    Result<BlockModelRef> model = models_.Find(own ? of_server->sync() : sync, apply);
    if (!model.ok()) {
      return model.status().WithContext(fmt::format("table \"{}\" on server {}", table.spec.name, server));
    }
    block.model = *std::move(model);
  }
  return Status::Ok();
}

void BlockRules::Count(const TableSet& tables, bool is_member) {
  any_skips_ = any_bounded_ = false;
  if (!is_member) return;
  tables.ForEachJobClock([this](const WorkerTable& table) {
    for (const WorkerBlock& block : table.blocks) {
      any_skips_ = any_skips_ || block.model->rule.skips_ahead;
      any_bounded_ = any_bounded_ || block.model->rule.unsettled_max.has_value();
    }
  });
}

WorkerBlock* BlockRules::HeldUp(const TableSet& tables, Iteration iteration) const {
  if (!any_bounded_) return nullptr;
  return tables.FindBlockThat([iteration](const WorkerBlock& block) {
    if (block.table->IsOwnClock() || block.pushes.empty()) return false;
    const std::optional<std::int64_t> most = block.model->rule.unsettled_max;
    return most && block.table->CountOwn(block.pushes.front().iteration, iteration - 1) > *most;
  });
}

Iteration BlockRules::LowestTold(const TableSet& tables) const {
  Iteration lowest = kIterationMax;
  if (!any_skips_) return lowest;
  tables.ForEachJobClock([&lowest](const WorkerTable& table) {
    for (const WorkerBlock& block : table.blocks) {
      if (block.model->rule.skips_ahead) lowest = std::min(lowest, block.told);
    }
  });
  return lowest;
}

Status BlockRules::MayMeet(const std::string& what, const TableSet& tables) const {
  if (!any_skips_) return Status::Ok();
  const WorkerBlock* skips = tables.FindBlockThat(
      [](const WorkerBlock& block) { return !block.table->IsOwnClock() && block.model->rule.skips_ahead; });
  if (skips == nullptr) return Status::Ok();
  return FailedPrecondition(
      "{}: table \"{}\" follows \"{}\", under which workers leave iterations out: one that stands here "
      "sends "
      "nothing, and one that is slower may need it to end its iteration, so that all of them would wait "
      "for each "
      "other. Meet before the first step, end with join() (leave), or give the table another model",
      what, skips->table->spec.name, skips->model->sync);
}

std::vector<std::string> BlockRules::SyncsOf(const std::string& glob, const TableSet& tables) {
  SyncRule rule;
  rule.tables = glob;
  std::set<std::string> syncs;
  tables.ForEachBlock([&](const WorkerBlock& block) {
    const WorkerTable& table = *block.table;
    // As the scheduler takes it: all that is trained, unless a table with a clock of its own is named.
    const bool meant = glob == "*" ? !table.IsOwnClock() : Fits(rule, table.spec.name, 0);
    if (meant) syncs.insert(block.model->sync);
  });
  return {syncs.begin(), syncs.end()};
}

}  // namespace leeway
