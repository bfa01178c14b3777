// Manifest: the parts of a checkpoint, as readable JSON. The scheduler writes it last: a folder without it is
// no checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/block_record.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/table.h"

namespace leeway {

inline constexpr std::uint32_t kManifestFormat = 3;

struct ManifestBlock {
  std::uint64_t offset = 0, elements = 0;  // within its table
  std::uint32_t file = 0;                  // index into Manifest::files
  RecordPlace record{};                    // in that file; block, term and v_train are here
  friend bool operator==(const ManifestBlock&, const ManifestBlock&) = default;
};

struct ManifestTable {
  TableId id{};
  TableSpec spec{};                   // sync, apply and optimizer resolved, never empty
  std::vector<ManifestBlock> blocks;  // by offset, without gap or overlap
  friend bool operator==(const ManifestTable&, const ManifestTable&) = default;
};

struct ManifestFile {
  std::string name;  // within the folder of the checkpoint
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // ShardFileWriter::checksum after Footer
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct ManifestRank {
  WorkerId rank{};
  Incarnation incarnation{};
  Iteration iteration{};  // the iteration that the rank was about to begin
  std::string file;       // within the folder of the checkpoint
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // ChecksumOf the whole file
  friend bool operator==(const ManifestRank&, const ManifestRank&) = default;
};

// A pool of batches, with the batches whose gradients the checkpoint's blocks hold.
struct ManifestPool {
  std::string name;
  std::uint64_t batches = 0;
  std::uint64_t next = 0;           // no batch from here on was ever leased
  std::vector<std::uint64_t> open;  // below `next`, ascending: batches whose gradients the blocks do not hold
  friend bool operator==(const ManifestPool&, const ManifestPool&) = default;
};

struct Manifest {
  std::uint64_t checkpoint = 0;
  JobOptions job{};
  std::vector<std::string> rules;  // synchronization rules in force at the checkpoint, in their order
  Iteration iteration{};           // the highest that a rank begins with
  // Each block on the job's clock was written when it advanced to `iteration`, and holds no later
  // contribution except in open sums. So all ranks begin there.
  bool exact = false;
  // The checkpoint is exact, and the state of every rank is of the same moment.
  bool consistent = false;
  Epoch epoch{};
  std::vector<Incarnation> incarnations;  // the highest of each rank, by rank
  std::vector<Iteration>
      begins;  // by rank: above every iteration that a block holds of it, and that its state knows
  // Pushes that blocks do not hold, over all of the job's history and below `begins`. Lost: acknowledged by
  // servers that died. Torn: of workers that died after their pushes reached only some of the blocks.
  std::uint64_t lost = 0, torn = 0;
  std::vector<ManifestTable> tables;  // by id, dense from 0
  std::vector<ManifestFile> files;
  std::vector<ManifestRank> ranks;  // ascending; the ranks that gave their state
  std::vector<ManifestPool> pools;  // ascending by name
};

// Indented JSON whose last key is the checksum of all text before it.
[[nodiscard]] std::string WriteManifest(const Manifest& manifest);
// Strict: errors name the key. A wrong checksum or format, a missing or unknown key, blocks that overlap or
// leave a gap, a duplicate block or table, and an index out of range are errors.
[[nodiscard]] Result<Manifest> ReadManifest(std::string_view text);
// Appends the end of WriteManifest: `members` is the text of an object up to its last key. For tests and
// tools that change a manifest by hand.
[[nodiscard]] std::string SealManifest(std::string members);

}  // namespace leeway
