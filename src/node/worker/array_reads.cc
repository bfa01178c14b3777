#include "node/worker/array_reads.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace leeway {

std::shared_ptr<ArrayRead> ArrayReads::Begin(WorkerTable& table, ArraysWanted what, ArraysDone done,
                                             TimePoint now) {
  if (reads_.empty()) since_ = now;
  auto read = std::make_shared<ArrayRead>();
  read->request = ++last_request_;
  read->table = &table;
  read->what = what;
  read->done = std::move(done);
  read->parts.resize(table.blocks.size());
  read->left = table.blocks.size();
  return reads_.emplace_back(std::move(read));
}

std::shared_ptr<ArrayRead> ArrayReads::Find(std::uint64_t request) const {
  const auto found = std::ranges::find(reads_, request, [](const auto& read) { return read->request; });
  return found == reads_.end() ? nullptr : *found;
}

Result<std::span<float>> ArrayReads::PlaceOf(ArrayRead& read, const WorkerBlock& block,
                                             const wire::ArraysEntry& entry) {
  const std::size_t first = read.of_state() ? 1 : 0;
  const std::size_t index = entry.array - first;
  if (block.table != read.table || entry.payload_bytes != block.bytes() || index >= entry.arrays ||
      (!read.of_state() && entry.arrays != 1)) {
    return Protocol(
        "table \"{}\" block {}: array {} of {} with {} bytes, wanted the {} of a block of {} bytes",
        block.table->spec.name, entry.block.value(), entry.array, entry.arrays, entry.payload_bytes,
        read.of_state() ? "state" : "values", block.bytes());
  }
  auto& arrays = read.state.arrays;
  if (arrays.empty()) arrays.assign(entry.arrays, std::vector<float>(block.table->elements));
  if (read.what == ArraysWanted::kNewerValues && !std::exchange(read.has_known, true)) {
    // Blocks of which nothing newer comes stay as they are in use.
    std::ranges::copy(block.table->pair.Front(), arrays[0].begin());
  }
  if (arrays.size() != entry.arrays) {
    return Protocol("table \"{}\" block {}: {} arrays, wanted {} as its other blocks have",
                    block.table->spec.name, entry.block.value(), entry.arrays, arrays.size());
  }
  return std::span(arrays[index]).subspan(block.offset, block.elements);
}

Result<std::shared_ptr<ArrayRead>> ArrayReads::OnEntry(const std::shared_ptr<ArrayRead>& read,
                                                       const WorkerBlock& block,
                                                       const wire::ArraysEntry& entry) {
  if (block.table != read->table) {
    return Protocol("arrays of table \"{}\", wanted those of table \"{}\"", block.table->spec.name,
                    read->table->spec.name);
  }
  ArrayRead::Part& part = read->parts[block.index];
  if (part.here) return std::shared_ptr<ArrayRead>();  // asked for twice
  read->empty_block = read->empty_block || entry.version == Version(0);
  read->state.steps = std::max(read->state.steps, entry.steps);
  if (entry.arrays > 0) {
    part.got.set(entry.array);
    if (part.got.count() < entry.arrays) return std::shared_ptr<ArrayRead>();
  }
  part.here = true;
  if (--read->left > 0) return std::shared_ptr<ArrayRead>();
  std::erase(reads_, read);
  return read;
}

void ArrayReads::Unsend(ShardId shard) {
  for (const std::shared_ptr<ArrayRead>& read : reads_) {
    for (const WorkerBlock& block : read->table->blocks) {
      if (block.shard == shard) Unsend(block);
    }
  }
}

void ArrayReads::Unsend(const WorkerBlock& block) {
  for (const std::shared_ptr<ArrayRead>& read : reads_) {
    if (block.table != read->table) continue;
    ArrayRead::Part& part = read->parts[block.index];
    part.sent = false;
    part.got.reset();
  }
}

std::vector<std::shared_ptr<ArrayRead>> ArrayReads::TakeAll() { return std::exchange(reads_, {}); }

const WorkerBlock* ArrayReads::FirstOpen() const {
  for (const std::shared_ptr<ArrayRead>& read : reads_) {
    for (const WorkerBlock& block : read->table->blocks) {
      if (!read->parts[block.index].here) return &block;
    }
  }
  return nullptr;
}

}  // namespace leeway
