#include "calibrate/recorded_scenario.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "problem/ghost.h"

namespace leeway::app {
namespace {

// Simulated values mean nothing here; more of them than this only cost time. Below it every block has its
// true size.
constexpr std::uint64_t kElementsMax = 4'000'000;
constexpr std::uint32_t kBatch = 1;

std::uint64_t ElementsOf(const JobRecord& record) {
  std::uint64_t elements = 0;
  for (const RecordedTable& table : record.tables) elements += table.elements;
  return elements;
}

void TakeCompute(const JobRecord& record, scenario::ComputeModel& compute) {
  double cpu_s = 0, elsewhere_s = 0, iterations = 0;
  for (const RecordedWorker& worker : record.workers) {
    const auto n = static_cast<double>(worker.iterations);
    cpu_s += worker.cpu_s * n;
    elsewhere_s += worker.elsewhere_s * n;
    iterations += n;
  }
  compute.base_s = cpu_s / iterations;
  compute.elsewhere_s = elsewhere_s / iterations;
  for (std::size_t rank = 0; rank < record.workers.size(); ++rank) {
    const RecordedWorker& worker = record.workers[rank];
    std::vector<float>& samples = compute.samples.emplace_back();
    for (const double seconds : worker.cpu_s_quantiles)
      samples.push_back(static_cast<float>(seconds / std::max(compute.base_s, 1e-9)));
    if (worker.slowed > 1) compute.slowed.emplace_back(static_cast<std::uint32_t>(rank), worker.slowed);
  }
  for (const RecordedTable& table : record.tables) compute.ready.push_back(table.ready_share);
}

}  // namespace

scenario::Scenario ScenarioOf(const JobRecord& record, const std::string& name) {
  scenario::Scenario scenario;
  scenario.name = name;
  scenario.job = record.job;
  // Frames pass each other over TCP alone. `auto` takes shared memory: all processes are on one host.
  scenario.job.priorities = record.job.priorities && record.transport == "tcp";
  scenario.problem = kRecordedProblem;
  TakeCompute(record, scenario.compute);
  // Other programs will take as much of the machine again.
  scenario.cores = std::max(0.1, record.host.cores - record.host.others_cores);
  scenario.links.latency_s = record.costs.latency_s;
  scenario.links.worker_bytes_per_second = record.costs.bytes_per_second;
  // On one machine every worker gets its bytes by itself: the server's side bounds nobody.
  scenario.links.server_bytes_per_second = record.costs.bytes_per_second * record.job.workers;
  scenario.server.per_message_s = record.costs.per_message_s;
  scenario.server.per_byte_s = record.costs.per_byte_s;
  scenario.iterations = std::max<std::uint64_t>(1, record.iterations / record.job.workers);
  if (record.pooled) scenario.pool = record.iterations;
  return scenario;
}

Registry<problem::Problem> ProblemsWith(const JobRecord& record) {
  std::vector<problem::Table> tables;
  for (const RecordedTable& table : record.tables)
    tables.push_back({table.name, {static_cast<std::int64_t>(table.elements)}});
  // ParseJobRecord keeps records far below this.
  constexpr std::uint64_t kGrainMax = std::numeric_limits<std::uint32_t>::max();
  const auto grain = static_cast<std::uint32_t>(std::min(ElementsOf(record) / kElementsMax + 1, kGrainMax));
  Registry<problem::Problem> problems = problem::BuiltinProblems();
  problems.Add(kRecordedProblem, [tables, grain](const PolicyConfig&) -> Result<problem::ProblemPtr> {
    return problem::NewGhost(tables, grain, kBatch);
  });
  return problems;
}

}  // namespace leeway::app
