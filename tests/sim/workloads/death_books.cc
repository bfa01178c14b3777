#include "sim/workloads/death_books.h"

#include <fmt/format.h>

#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "node/scheduler/log_file.h"
#include "node/scheduler/scheduler_log.h"

namespace leeway::sim {
namespace {

// Checks that every cell of every block holds a value that the books of its life allow.
void CheckBlock(const Block& block, BlockId id, std::uint32_t table, DeathBooks& books) {
  for (std::uint32_t rank = 0; rank < books.lives.size(); ++rank) {
    for (std::uint32_t life = 0; life < kDeathLives; ++life) {
      const DeathBook none;
      const DeathBook& book = life < books.lives[rank].size() ? books.lives[rank][life] : none;
      const auto found = book.taken.find({table, id});
      const std::uint64_t least = found == book.taken.end() ? 0 : found->second;
      const std::uint64_t most = book.ended_well ? least : book.pushed[table];
      const float held = block.values()[rank * kDeathLives + life];
      if (held >= static_cast<float>(least) && held <= static_cast<float>(most)) continue;
      books.problems.push_back(
          fmt::format("table {} block {}: {} pushes of worker {} life {} are in it, wanted {} to {}", table,
                      id.value(), held, rank, life, least, most));
    }
  }
}

void CheckBlocks(const Cluster& cluster, const DeathPlan& plan, DeathBooks& books) {
  const std::size_t cells = plan.job.workers * kDeathLives;
  std::uint32_t next = 0;
  for (std::uint32_t table = 0; table < kDeathTables - (plan.own_table ? 0 : 1); ++table) {
    for (std::uint32_t i = 0; i < 1 + table; ++i) {
      const BlockId id(next++);
      const Block* block = cluster.FindBlock(id);
      if (block == nullptr || block->values().size() != cells) {
        return books.problems.push_back(fmt::format("block {}: no values at the end", id.value()));
      }
      CheckBlock(*block, id, table, books);
    }
  }
}

void CheckBatches(DeathBooks& books) {
  const SchedulerDeathCounts& counts = books.counts;
  for (std::size_t batch = 0; batch < books.batches.size(); ++batch) {
    const std::uint32_t times = books.batches[batch];
    if (times > 1) ++books.counts.repeated_batches;
    // The leases of a killed worker go back, and the others may have ended by then.
    if (counts.worker_kills > 0 || times == 1 || (times > 1 && counts.power_losses > 0)) continue;
    books.problems.push_back(fmt::format("batch {} was done {} times", batch, times));
  }
}

// A checkpoint is a consistent cut, even if the scheduler changed between its begin and its end.
void CheckCheckpoints(const Disk& disk, const DeathPlan& plan, DeathBooks& books) {
  const auto listed = disk.List(kDeathCheckpoints);
  if (!listed.ok()) return;
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const std::string path = JoinPath(JoinPath(kDeathCheckpoints, CheckpointName(id)), kManifestName);
    const auto bytes = disk.Read(path, 0, 1U << 30);
    if (!bytes.ok()) continue;
    const auto manifest = ReadManifest({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!manifest.ok()) {
      books.problems.push_back(fmt::format("{}: {}", path, manifest.status().ToString()));
      continue;
    }
    ++books.counts.checkpoints;
    if (manifest->consistent) ++books.counts.consistent;
    for (const ManifestTable& table : manifest->tables) {
      const bool cut = table.spec.clock == TableClock::kJob && plan.job.apply == "aggregate";
      for (const ManifestBlock& block : table.blocks) {
        if (!cut || !manifest->consistent || block.record.v_train == manifest->iteration) continue;
        books.problems.push_back(fmt::format("{}: block {} is of iteration {}, wanted {}", path,
                                             block.record.block.value(), block.record.v_train.value(),
                                             manifest->iteration.value()));
      }
    }
  }
}

void CheckLog(const Disk& disk, DeathBooks& books) {
  const std::string path = JoinPath(kDeathLogs, kLogName);
  const auto bytes = disk.Read(path, 0, 1U << 30);
  if (!bytes.ok()) return books.problems.push_back(bytes.status().ToString());
  const Result<DecodedLog> log = DecodeLog(*bytes);
  if (!log.ok()) return books.problems.push_back(log.status().ToString());
  bool over = false;
  for (const wire::pb::LogRecord& record : log->records) over = over || record.state().over();
  if (!over || !log->torn.empty())
    books.problems.push_back(fmt::format("{} does not say that the job is over", path));
}

}  // namespace

void CheckDeathBooks(Cluster& cluster, const Disk& shared, const DeathPlan& plan, DeathBooks& books) {
  CheckBlocks(cluster, plan, books);
  CheckBatches(books);
  CheckCheckpoints(shared, plan, books);
  CheckLog(cluster.disk(Cluster::scheduler_host()), books);
}

}  // namespace leeway::sim
