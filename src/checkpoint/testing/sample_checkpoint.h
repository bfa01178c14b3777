// States, records and whole checkpoints drawn from a seed, for tests, fuzz seeds and tools' tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "checkpoint/block_record.h"
#include "checkpoint/checksum.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/rank_file.h"
#include "checkpoint/shard_file.h"

namespace leeway::sample {

using Bytes = std::vector<std::byte>;

inline Bytes Joined(const std::vector<Pinned>& pieces) {
  Bytes bytes;
  for (const Pinned& piece : pieces) bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  return bytes;
}

inline BufferRef TakeBuffer(std::size_t elements, Arena::Use = Arena::Use::kKept) {
  return std::make_shared<Buffer>(elements);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t Bits() { return Hash64({seed_, ++count_}); }
  std::uint64_t Below(std::uint64_t n) { return Bits() % n; }
  ConstBufferRef Floats(std::size_t elements) {
    BufferRef buffer = TakeBuffer(elements);
    for (float& f : buffer->floats()) f = static_cast<float>(UnitInterval(Bits())) - 0.5F;
    return buffer;
  }

 private:
  const std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

struct StateOptions {
  std::size_t elements = 5;
  int slots = 2;  // of the optimizer; -1: a block without values
  std::uint32_t lives = 3;
  int sums = 2;
  bool ordered = false;  // gradients of a sum one by one
  std::size_t memory_bytes = 3;
};

inline BlockState DrawState(Draw& draw, const StateOptions& options) {
  BlockState state;
  const std::int64_t v_train = 7 + static_cast<std::int64_t>(draw.Below(3));
  if (options.slots >= 0) {
    state.version = Version(1 + draw.Below(100));
    state.steps = draw.Below(100);
    state.values = draw.Floats(options.elements);
    for (int i = 0; i < options.slots; ++i) state.slots.push_back(draw.Floats(options.elements));
  }
  state.progress.v_train = Iteration(v_train);
  state.progress.highest_sent = Iteration(v_train + 1);
  state.progress.untouched = draw.Below(2) == 0;
  state.progress.taken = static_cast<std::uint32_t>(v_train - 4);
  for (std::uint32_t worker = 0; worker < options.lives; ++worker) {
    const MemberKey key{WorkerId(worker), Incarnation(1 + static_cast<std::uint32_t>(draw.Below(4)))};
    state.progress.lives.push_back(
        {key, Iteration(0), Iteration(v_train), draw.Below(3) > 0, draw.Below(2) == 0});
    LedgerState page{key, Seq(draw.Below(50)), {}};
    for (Verdict& verdict : page.verdicts) verdict = static_cast<Verdict>(draw.Below(7));
    state.ledger.push_back(page);
    state.progress.ended_firsts.emplace_back(worker);
    state.progress.ended_lasts.emplace_back(worker + 5);
  }
  for (int i = 0; i < options.sums; ++i) {
    OpenSumState& sum = state.sums.emplace_back();
    sum.iteration = Iteration(v_train + i);
    sum.samples = draw.Below(1000);
    sum.contributors = static_cast<std::uint32_t>(draw.Below(3));
    sum.steps = draw.Below(1000);
    sum.chosen = {WorkerId(1), Incarnation(2)};
    sum.chosen_seq = Seq(draw.Below(9));
    sum.hyper.lr = static_cast<float>(UnitInterval(draw.Bits()));
    sum.hyper_mismatch = draw.Below(2) == 0;
    for (std::uint32_t worker = 0; worker < (options.ordered ? options.lives : 1); ++worker) {
      sum.contributions.push_back(
          {{WorkerId(worker), Incarnation(1)}, Seq(4), 32.0F, draw.Floats(options.elements)});
    }
  }
  state.memory = std::string(options.memory_bytes, '\x7F');
  return state;
}

struct Checkpoint {
  Manifest manifest;
  std::map<std::string, Bytes> files;  // by name, the manifest with them
};

struct CheckpointOptions {
  std::uint64_t id = 12;
  std::vector<std::vector<std::int64_t>> tables{{40, 100}, {3, 1000}, {7}};
  std::uint64_t block_elements = 1000;
  std::uint32_t shards = 3;
  std::uint32_t ranks = 2;
};

inline Checkpoint DrawCheckpoint(std::uint64_t seed, const CheckpointOptions& options = {}) {
  Draw draw(seed);
  Checkpoint checkpoint;
  Manifest& manifest = checkpoint.manifest;
  manifest.checkpoint = options.id;
  manifest.job.job = "sample";
  manifest.job.workers = options.ranks;
  manifest.job.servers = options.shards;
  manifest.job.apply = "aggregate:reduce=ordered,window=2";
  manifest.job.block_bytes = static_cast<std::uint32_t>(options.block_elements * sizeof(float));
  manifest.iteration = Iteration(9);
  manifest.exact = manifest.consistent = true;
  manifest.epoch = Epoch(4);
  std::vector<ShardFileWriter> writers;
  for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
    writers.emplace_back(manifest.job.job, options.id, ShardId(shard));
    checkpoint.files[ShardFileName(ShardId(shard))] = Joined(writers.back().Header());
  }
  std::uint32_t block = 0;
  for (const std::vector<std::int64_t>& shape : options.tables) {
    ManifestTable& table = manifest.tables.emplace_back();
    table.id = TableId(static_cast<std::uint32_t>(manifest.tables.size() - 1));
    table.spec.name = "layer." + std::to_string(table.id.value()) + ".weight";
    table.spec.shape = shape;
    table.spec.sync = "bsp";
    table.spec.apply = manifest.job.apply;
    table.spec.optimizer = "adam";
    for (std::uint64_t at = 0; at < table.spec.elements(); at += options.block_elements, ++block) {
      const std::uint64_t elements = std::min(options.block_elements, table.spec.elements() - at);
      const std::uint32_t shard = block % options.shards;
      const BlockRecord record{{BlockId(block), table.id, at, elements, Term(3)},
                               DrawState(draw, {.elements = elements, .ordered = block % 2 == 0})};
      const Bytes bytes = Joined(writers[shard].Add(record));
      Bytes& file = checkpoint.files[ShardFileName(ShardId(shard))];
      file.insert(file.end(), bytes.begin(), bytes.end());
      table.blocks.push_back({at, elements, shard, writers[shard].records().back()});
    }
  }
  for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
    const Bytes bytes = Joined(writers[shard].Footer());
    Bytes& file = checkpoint.files[ShardFileName(ShardId(shard))];
    file.insert(file.end(), bytes.begin(), bytes.end());
    manifest.files.push_back({ShardFileName(ShardId(shard)), file.size(), writers[shard].checksum()});
  }
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    Bytes blob(100 + rank);
    for (std::byte& b : blob) b = static_cast<std::byte>(draw.Bits());
    manifest.incarnations.emplace_back(2);
    manifest.begins.push_back(manifest.iteration);
    const Incarnation incarnation(1 + rank % 2);
    const RankFileHead head{manifest.job.job, options.id, WorkerId(rank), incarnation, manifest.iteration};
    const EncodedRankFile file = EncodeRankFile(head, std::make_shared<const Bytes>(blob));
    const std::string name = RankFileName(WorkerId(rank), incarnation);
    manifest.ranks.push_back(
        {WorkerId(rank), incarnation, manifest.iteration, name, file.bytes, file.checksum});
    checkpoint.files[name] = Joined(file.pieces);
  }
  manifest.pools = {{"pool.0", 100, 40, {3, 17}}, {"pool.1", 5, 0, {}}};
  const std::string text = WriteManifest(manifest);
  const auto bytes = std::as_bytes(std::span(text));
  checkpoint.files[std::string(kManifestName)] = Bytes(bytes.begin(), bytes.end());
  return checkpoint;
}

inline std::string_view TextOf(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace leeway::sample
