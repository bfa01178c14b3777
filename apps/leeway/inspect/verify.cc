#include "inspect/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "checkpoint/layout.h"
#include "checkpoint/rank_file.h"
#include "checkpoint/shard_file.h"
#include "inspect/checkpoint_folder.h"
#include "inspect/open_file.h"

namespace leeway::app {
namespace {

struct ExpectedBlock {
  const ManifestTable* table;
  const ManifestBlock* block;
};

class Verification {
 public:
  Verification(const std::string& checkpoint, const Manifest& manifest)
      : checkpoint_(checkpoint), manifest_(manifest) {
    for (const ManifestTable& table : manifest.tables) {
      for (const ManifestBlock& block : table.blocks) {
        expected_[block.file][block.record.offset] = {&table, &block};
      }
    }
  }

  Verified Run() {
    for (std::uint32_t i = 0; i < manifest_.files.size(); ++i) ShardFile(i);
    for (const ManifestRank& rank : manifest_.ranks) State(rank);
    return std::move(verified_);
  }

 private:
  void Problem(const std::string& file, const std::string& what) {
    verified_.problems.push_back(fmt::format("{}: {}", JoinPath(checkpoint_, file), what));
  }

  void ShardFile(std::uint32_t index) {
    const ManifestFile& file = manifest_.files[index];
    Result<OpenFile> open = OpenFile::Open(JoinPath(checkpoint_, file.name));
    if (!open.ok()) return verified_.problems.push_back(open.status().message());
    ++verified_.files;
    verified_.bytes += open->bytes();
    const Result<ShardFileInfo> info = CheckShardFile(
        open->bytes(),
        [&open](std::uint64_t offset, std::uint64_t bytes) { return open->Read(offset, bytes); });
    if (!info.ok()) {
      Problem(file.name, info.status().message());
      return BadBlocks(index);
    }
    verified_.blocks += info->records.size();
    if (info->bytes != file.bytes || info->checksum != file.checksum) {
      Problem(
          file.name,
          fmt::format("got {} bytes with checksum {}, wanted {} with {}: it is of another checkpoint",
                      info->bytes, ChecksumText(info->checksum), file.bytes, ChecksumText(file.checksum)));
    }
    if (info->checkpoint != manifest_.checkpoint || info->job != manifest_.job.job) {
      Problem(file.name, fmt::format("got checkpoint {} of job \"{}\", wanted {} of \"{}\"", info->checkpoint,
                                     info->job, manifest_.checkpoint, manifest_.job.job));
    }
    if (info->records.size() != expected_[index].size()) {
      Problem(file.name,
              fmt::format("got {} blocks, wanted {}", info->records.size(), expected_[index].size()));
    }
    BadBlocks(index);
  }

  // Each block by itself, as a server would load it.
  void BadBlocks(std::uint32_t index) {
    for (const auto& [offset, expected] : expected_[index]) {
      const Result<BlockRecord> record = ReadRecord(checkpoint_, manifest_, *expected.block);
      if (!record.ok()) {
        verified_.problems.push_back(
            fmt::format("{} (table \"{}\")", record.status().message(), expected.table->spec.name));
      } else if (record->id.table != expected.table->id) {
        Problem(manifest_.files[index].name,
                fmt::format("block {} at offset {}: got table {}, wanted {} (\"{}\")",
                            expected.block->record.block.value(), offset, record->id.table.value(),
                            expected.table->id.value(), expected.table->spec.name));
      }
    }
  }

  // A worker's own bytes, as that worker would load them.
  void State(const ManifestRank& rank) {
    Result<std::vector<std::byte>> bytes = ReadAll(JoinPath(checkpoint_, rank.file));
    if (!bytes.ok()) return verified_.problems.push_back(bytes.status().message());
    ++verified_.files;
    ++verified_.ranks;
    verified_.bytes += bytes->size();
    const Result<RankFile> file = DecodeRankFile(*bytes);
    if (!file.ok()) return Problem(rank.file, file.status().message());
    if (bytes->size() != rank.bytes || file->checksum != rank.checksum) {
      Problem(
          rank.file,
          fmt::format("got {} bytes with checksum {}, wanted {} with {}: it is of another checkpoint",
                      bytes->size(), ChecksumText(file->checksum), rank.bytes, ChecksumText(rank.checksum)));
    }
    const RankFileHead wanted{manifest_.job.job, manifest_.checkpoint, rank.rank, rank.incarnation,
                              rank.iteration};
    if (file->head != wanted) {
      Problem(rank.file, fmt::format("got {}, wanted {}", Words(file->head), Words(wanted)));
    }
  }

  static std::string Words(const RankFileHead& head) {
    return fmt::format("rank {} incarnation {} iteration {} of checkpoint {} of job \"{}\"",
                       head.rank.value(), head.incarnation.value(), head.iteration.value(), head.checkpoint,
                       head.job);
  }

  const std::string& checkpoint_;
  const Manifest& manifest_;
  std::map<std::uint32_t, std::map<std::uint64_t, ExpectedBlock>> expected_;  // by file and offset
  Verified verified_;
};

}  // namespace

Verified VerifyCheckpoint(const std::string& checkpoint) {
  const Result<Manifest> manifest = OpenManifest(checkpoint);
  if (!manifest.ok()) return {.problems = {manifest.status().message()}};
  return Verification(checkpoint, *manifest).Run();
}

}  // namespace leeway::app
