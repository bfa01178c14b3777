#include "node/worker/array_reads.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

// Where an array of this entry lands. An error if the entry does not answer `read`.
Result<std::span<float>> PlaceOf(ArrayRead& read, const WorkerBlock& block, const wire::ArraysEntry& entry) {
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

}  // namespace

void ArrayReads::Begin(WorkerTable& table, ArraysWanted what, ArraysDone done, TimePoint now) {
  if (reads_.empty()) since_ = now;
  auto read = std::make_shared<ArrayRead>();
  read->request = ++last_request_;
  read->table = &table;
  read->what = what;
  read->done = std::move(done);
  read->parts.resize(table.blocks.size());
  read->left = table.blocks.size();
  reads_.push_back(std::move(read));
}

std::shared_ptr<ArrayRead> ArrayReads::Find(std::uint64_t request) const {
  const auto found = std::ranges::find(reads_, request, [](const auto& read) { return read->request; });
  return found == reads_.end() ? nullptr : *found;
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

void ArrayReads::FailAll(const Status& why) {
  for (const std::shared_ptr<ArrayRead>& read : std::exchange(reads_, {}))
    due_.Later([read, why] { read->done(why, {}); });
}

void ArrayReads::Send(const ShardPorts& ports) {
  for (const std::shared_ptr<ArrayRead>& read : reads_) {
    for (const std::unique_ptr<ShardPort>& port : ports.all()) {
      if (!port->link().up()) continue;
      wire::Read message;
      const auto send = [&] {
        message.worker = self_.worker;
        message.incarnation = self_.incarnation;
        message.request = read->request;
        message.what = read->of_state() ? wire::ReadWhat::kState : wire::ReadWhat::kValues;
        std::vector<std::byte> body;
        wire::Encode(message, body);
        counters_.bytes_sent += body.size();
        port->link().Send(wire::Kind::kRead, body, {});
        message.entries.clear();
      };
      for (const WorkerBlock& block : read->table->blocks) {
        ArrayRead::Part& part = read->parts[block.index];
        if (block.shard != port->shard() || part.sent || part.here || block.moved || block.resuming) continue;
        part.sent = true;
        const bool known = read->what == ArraysWanted::kNewerValues;
        message.entries.push_back(
            {block.id, block.term, known ? read->table->landing.InUse(block.index) : Version(0)});
        if (message.entries.size() == wire::kEntriesMax) send();
      }
      if (!message.entries.empty()) send();
    }
  }
}

Result<Landing> ArrayReads::Land(const TableSet& tables, std::span<const std::byte> body,
                                 std::uint64_t payload_bytes) {
  auto lease = std::make_shared<ArraysLanding>();
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, lease->arrays));
  LW_RETURN_IF_ERROR(self_.CheckAddressee(lease->arrays.worker, lease->arrays.incarnation));
  lease->read = Find(lease->arrays.request);
  Landing landing;
  if (lease->read == nullptr) {
    lease->nowhere.resize(payload_bytes);
    landing.places.push_back(lease->nowhere);
  } else {
    for (const wire::ArraysEntry& entry : lease->arrays.entries) {
      if (entry.payload_bytes == 0) continue;
      const WorkerBlock* block = tables.FindBlock(entry.block);
      if (block == nullptr)
        return Protocol("arrays of block {}, which no table of this worker has", entry.block.value());
      LW_ASSIGN_OR_RETURN(const std::span<float> place, PlaceOf(*lease->read, *block, entry));
      landing.places.push_back(std::as_writable_bytes(place));
    }
  }
  landing.lease = std::move(lease);
  return landing;
}

Status ArrayReads::OnArrays(ShardId from, const TableSet& tables, const wire::Arrays& arrays) {
  LW_RETURN_IF_ERROR(self_.CheckAddressee(arrays.worker, arrays.incarnation));
  const std::shared_ptr<ArrayRead> read = Find(arrays.request);
  if (read == nullptr) return Status::Ok();
  for (const wire::ArraysEntry& entry : arrays.entries) {
    const WorkerBlock* block = tables.FindBlock(entry.block);
    if (block == nullptr)
      return Protocol("arrays of block {}, which no table of this worker has", entry.block.value());
    if (block->shard != from || block->term != entry.term) continue;  // of an owner before
    LW_ASSIGN_OR_RETURN(const std::shared_ptr<ArrayRead> whole, OnEntry(read, *block, entry));
    if (whole == nullptr) continue;
    Status outcome;
    if (whole->empty_block)
      outcome = FailedPrecondition("table \"{}\" has no initial values yet", whole->table->spec.name);
    // A copy: a frame of an owner before may still be landing in it.
    due_.Later([whole, outcome] { whole->done(outcome, whole->state); });
    break;
  }
  return Status::Ok();
}

const WorkerBlock* ArrayReads::FirstOpen() const {
  for (const std::shared_ptr<ArrayRead>& read : reads_) {
    for (const WorkerBlock& block : read->table->blocks) {
      if (!read->parts[block.index].here) return &block;
    }
  }
  return nullptr;
}

}  // namespace leeway
