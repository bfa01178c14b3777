#include "bench/cluster/placed_bytes.h"

#include "assembly/assembly.h"
#include "base/errors.h"
#include "node/scheduler/table_registry.h"

namespace leeway::bench {

Result<std::vector<double>> PlacedBytes(const JobOptions& job, std::span<const problem::Table> tables) {
  wire::pb::DefineTables request;
  for (const problem::Table& table : tables) {
    wire::pb::Table& row = *request.add_tables();
    row.set_name(table.name);
    row.mutable_shape()->Assign(table.shape.begin(), table.shape.end());
    row.set_dtype(static_cast<std::uint32_t>(DType::kFloat32));
  }
  const Policies policies = Policies::Builtin();
  TableRegistry registry(
      job, SchedulerPolicies{policies.sync, policies.optimizers, policies.placements, policies.exchanges});
  LW_RETURN_IF_ERROR(registry.Check());
  LW_RETURN_IF_ERROR(registry.Define(request, Epoch(2)).status());
  std::vector<double> servers(job.servers);
  for (const TableRegistry::Entry& entry : registry.all()) {
    for (const wire::pb::Block& block : entry.map.blocks())
      servers[block.shard() / job.shards] += static_cast<double>(block.elements()) * sizeof(float);
  }
  return servers;
}

}  // namespace leeway::bench
