#include "node/scheduler/cut_manifest.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/errors.h"

namespace leeway {
namespace {

// Sets where each rank goes on from the checkpoint, and what blocks lack below that. Returns by rank where
// the pushes end that any block holds.
std::vector<Iteration> SetBegins(const CutJob& job, const CutParts& parts, Manifest& manifest) {
  manifest.lost = job.lacking.lost + job.reports.Lost();
  manifest.torn = job.lacking.torn;
  if (manifest.exact) {
    manifest.begins.assign(manifest.incarnations.size(), manifest.iteration);
    return manifest.begins;
  }
  // No rank begins below a block: nobody waits there for what it did not do before.
  Iteration at_least(0);
  std::uint64_t blocks = 0;
  for (const ManifestTable& table : manifest.tables) {
    if (table.spec.clock == TableClock::kOwn) continue;
    blocks += table.blocks.size();
    for (const ManifestBlock& block : table.blocks) at_least = std::max(at_least, block.record.v_train);
  }
  HeldPushes held;
  for (const auto& [shard, reply] : parts.replies) {
    for (const wire::pb::Held& one : reply.held()) held.Add(one);
  }
  manifest.begins.assign(manifest.incarnations.size(), at_least);
  std::vector<Iteration> ends(manifest.incarnations.size(), Iteration(0));
  std::map<MemberKey, Iteration> given;  // where a rank was when it gave its state
  for (const ManifestRank& rank : manifest.ranks) given[{rank.rank, rank.incarnation}] = rank.iteration;
  for (const MemberKey life : held.Lives()) {
    if (life.worker.index() >= manifest.begins.size()) continue;
    Iteration end = held.Highest(life) + 1;
    // A life may end, and the next one take its seat, while shards write. A shard that wrote before lacks
    // what the life sent afterwards; one that writes later may have forgotten the life, and holds all of it.
    const std::optional<EndedLives::Span> ended = job.ended.SpanOf(life);
    if (ended && held.BlocksOf(life) < blocks) end = std::max(end, ended->end);
    ends[life.worker.index()] = std::max(ends[life.worker.index()], end);
    // The state of a rank knows of pushes that no block had yet: the rank does not do them again either.
    if (const auto state = given.find(life); state != given.end()) end = std::max(end, state->second);
    // Nor does it do again what a server had acknowledged before the cut, and took with it when it died.
    if (const auto settled = parts.settled.find(life); settled != parts.settled.end())
      end = std::max(end, settled->second);
    const WorkerSeat& seat = job.members.workers()[life.worker.index()];
    Iteration& begins = manifest.begins[life.worker.index()];
    begins = std::max(begins, end);
    Iteration first = end;
    if (seat.incarnation == life.incarnation) {
      first = seat.first;
    } else if (ended) {
      first = ended->first;
    }
    if (!job.ended.IsInCut(life)) manifest.lost += held.Of(life, first, end - 1).torn;
  }
  manifest.iteration = std::ranges::max(manifest.begins);
  return ends;
}

}  // namespace

Result<Manifest> BuildManifest(const CutJob& job, const CutParts& parts) {
  Manifest manifest;
  manifest.checkpoint = parts.cut.checkpoint();
  manifest.job = job.options;
  manifest.rules = job.tables.Rules();
  manifest.iteration = Iteration(parts.cut.iteration());
  manifest.exact = true;
  manifest.consistent = !parts.ranks.AnyLacks();
  manifest.epoch = job.epoch;
  for (const WorkerSeat& seat : job.members.workers()) manifest.incarnations.push_back(seat.incarnation);
  manifest.ranks = parts.ranks.Written();
  // A rank that left the cut's iteration out, or was asked for any, has done more than the blocks hold.
  for (const ManifestRank& rank : manifest.ranks) {
    if (rank.iteration != manifest.iteration) manifest.consistent = false;
  }
  struct Written {
    std::uint32_t file = 0;
    const wire::pb::CutBlock* block = nullptr;
  };
  std::map<std::uint32_t, Written> blocks;
  for (const auto& [shard, reply] : parts.replies) {
    if (reply.fuzzy()) manifest.exact = manifest.consistent = false;
    for (const wire::pb::CutBlock& block : reply.blocks()) {
      blocks[block.block()] = {static_cast<std::uint32_t>(manifest.files.size()), &block};
    }
    manifest.files.push_back({reply.file(), reply.bytes(), reply.checksum()});
  }
  for (const TableRegistry::Entry& entry : job.tables.all()) {
    ManifestTable& table = manifest.tables.emplace_back();
    table.id = TableId(entry.map.id());
    LW_ASSIGN_OR_RETURN(table.spec, job.tables.CanonicalSpec(table.id));
    for (const wire::pb::Block& block : entry.map.blocks()) {
      const auto written = blocks.find(block.block());
      // A table that was made while the shards were writing.
      if (written == blocks.end())
        return Unavailable("block {} of table \"{}\" is not in it", block.block(), table.spec.name);
      const wire::pb::CutBlock& at = *written->second.block;
      const RecordPlace record{BlockId(at.block()),     at.offset(),     at.bytes(),
                               Iteration(at.v_train()), Term(at.term()), at.checksum()};
      table.blocks.push_back({block.offset(), block.elements(), written->second.file, record});
    }
  }
  const std::vector<Iteration> ends = SetBegins(job, parts, manifest);
  // In a job without iterations a batch that nobody has finished is open.
  const bool iterates = std::ranges::any_of(job.tables.all(), [](const TableRegistry::Entry& entry) {
    return entry.spec.clock == TableClock::kJob;
  });
  manifest.pools =
      job.pools.InCut(iterates ? std::span<const Iteration>(ends) : std::span<const Iteration>());
  return manifest;
}

}  // namespace leeway
