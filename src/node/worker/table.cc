#include "node/worker/table.h"

#include "base/errors.h"
#include "node/map_block.h"

namespace leeway {
namespace {

Status CheckBlock(const TableSpec& spec, const wire::pb::Block& block, std::uint64_t offset,
                  std::size_t shards) {
  if (block.offset() != offset || block.elements() == 0) {
    return Protocol("table \"{}\": block {} of the map holds {} elements from {}, wanted some from {}",
                    spec.name, block.block(), block.elements(), block.offset(), offset);
  }
  if (block.shard() >= shards) {
    return Protocol("table \"{}\": block {} of the map is on shard {} of {}", spec.name, block.block(),
                    block.shard(), shards);
  }
  return CheckUnmoved(block);
}

}  // namespace

WorkerTable::WorkerTable(TableId table_id, const TableSpec& table_spec, ParameterPair& parameters,
                         BufferPool& pool)
    : id(table_id),
      own_clock(table_spec.clock == TableClock::kOwn),
      elements(table_spec.elements()),
      pair(parameters),
      landing(parameters, pool),
      spec(table_spec) {}

void WorkerBlock::NoteAssigned(Seq seq) {
  if (assigns.size() == kAssignsMax) assigns.erase(assigns.begin());
  assigns.push_back(seq);
}

Iteration WorkerBlock::NextIteration() const {
  return pushes.empty() ? table->pushed + 1 : pushes.front().iteration;
}

Status WorkerTable::Place(const wire::pb::Table& map, std::size_t shards) {
  std::uint64_t offset = 0;
  for (const wire::pb::Block& block : map.blocks()) {
    LW_RETURN_IF_ERROR(CheckBlock(spec, block, offset, shards));
    offset += block.elements();
  }
  if (map.name() != spec.name || offset != elements) {
    return Protocol("the map of table \"{}\" covers {} elements, wanted {} of table \"{}\"", map.name(),
                    offset, elements, spec.name);
  }
  blocks.reserve(static_cast<std::size_t>(map.blocks_size()));
  for (const wire::pb::Block& from : map.blocks()) {
    WorkerBlock& block = blocks.emplace_back();
    block.id = BlockId(from.block());
    block.index = static_cast<std::uint32_t>(blocks.size() - 1);
    block.table = this;
    block.shard = ShardId(from.shard());
    block.term = Term(from.term());
    block.offset = from.offset();
    block.elements = from.elements();
    landing.AddBlock(block.offset, block.elements);
  }
  own_first = Iteration(map.first());
  state = State::kPlaced;
  return Status::Ok();
}

Status WorkerTable::Replace(const wire::pb::Table& map, std::size_t shards) {
  if (map.name() != spec.name || static_cast<std::size_t>(map.blocks_size()) != blocks.size()) {
    return Protocol("the new map of table \"{}\" has {} blocks, wanted {} of table \"{}\"", map.name(),
                    map.blocks_size(), blocks.size(), spec.name);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const wire::pb::Block& from = map.blocks(static_cast<int>(i));
    LW_RETURN_IF_ERROR(CheckBlock(spec, from, blocks[i].offset, shards));
    if (from.block() != blocks[i].id.value() || from.elements() != blocks[i].elements) {
      return Protocol("the new map of table \"{}\" cuts it differently at block {}", spec.name, from.block());
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const wire::pb::Block& from = map.blocks(static_cast<int>(i));
    blocks[i].shard = ShardId(from.shard());
    blocks[i].waited_by_server = nullptr;
    if (Term(from.term()) > blocks[i].term) {
      blocks[i].resuming = true;
      blocks[i].told = Iteration(-1);
      landing.Forget(i);
    }
    blocks[i].term = Term(from.term());
  }
  return Status::Ok();
}

}  // namespace leeway
