#include "node/worker/table_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

// Staged answers are as large as tables and come back every iteration at worst. The pool frees spare buffers
// beyond this.
constexpr std::uint64_t kSpareBytesMax = 64ULL << 20;

// Table sizes of a map are checked against this before anything is indexed by a block's id.
constexpr std::uint32_t kBlockIdMax = 16U << 20;

// A group's record of idle iterations goes back so far. Older ones count as own, which policies take for an
// older cache and figures for a longer lead.
constexpr std::int64_t kIdleKept = 4096;

Status CheckSpec(const TableSpec& spec) {
  if (spec.name.empty()) return InvalidArgument("a table needs a name");
  std::uint64_t elements = 1;
  for (const std::int64_t dimension : spec.shape) {
    if (dimension <= 0) {
      return InvalidArgument("table \"{}\": dimension {} in its shape, wanted at least 1", spec.name,
                             dimension);
    }
    if (static_cast<std::uint64_t>(dimension) >
        std::numeric_limits<std::uint64_t>::max() / sizeof(float) / elements) {
      return InvalidArgument("table \"{}\": its shape has more elements than can be counted", spec.name);
    }
    elements *= static_cast<std::uint64_t>(dimension);
  }
  return Status::Ok();
}

}  // namespace

TableSet::TableSet(Arena& arena) : pool_(kSpareBytesMax, arena) {}

Result<TableId> TableSet::Create(const TableSpec& spec, ParameterPair& pair) {
  LW_RETURN_IF_ERROR(CheckSpec(spec));
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    if (table->spec.name == spec.name && table->state != WorkerTable::State::kRefused) {
      return AlreadyExists("table \"{}\" was created before", spec.name);
    }
  }
  if (pair.elements() != spec.elements()) {
    return InvalidArgument("table \"{}\": buffers of {} elements, wanted {}", spec.name, pair.elements(),
                           spec.elements());
  }
  const TableId id(static_cast<std::uint32_t>(tables_.size()));
  tables_.push_back(std::make_unique<WorkerTable>(id, spec, pair, pool_));
  tables_.back()->idle = tables_.back()->IsOwnClock() ? &never_idle_ : &groups_[spec.group];
  (tables_.back()->IsOwnClock() ? own_clock_bytes_ : job_clock_bytes_) += pair.elements() * sizeof(float);
  return id;
}

std::vector<WorkerTable*> TableSet::TakeCreated() {
  std::vector<WorkerTable*> created;
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    if (table->state != WorkerTable::State::kCreated) continue;
    table->state = WorkerTable::State::kDefining;
    created.push_back(table.get());
  }
  return created;
}

Status TableSet::Place(WorkerTable& table, const wire::pb::Table& map, std::size_t shards) {
  for (const wire::pb::Block& block : map.blocks()) {
    if (block.block() > kBlockIdMax)
      return Protocol("block id {}, wanted at most {}", block.block(), kBlockIdMax);
  }
  return table.Place(map, shards);
}

void TableSet::Index(WorkerTable& table) {
  for (WorkerBlock& block : table.blocks) {
    if (blocks_.size() <= block.id.index()) blocks_.resize(block.id.index() + 1, nullptr);
    blocks_[block.id.index()] = &block;
  }
}

Result<WorkerTable*> TableSet::FindPlaced(TableId id) const {
  if (id.index() >= tables_.size())
    return NotFound("no table {}; {} were created", id.value(), tables_.size());
  WorkerTable* table = tables_[id.index()].get();
  if (table->state == WorkerTable::State::kRefused) {
    return FailedPrecondition("table \"{}\" was refused: {}", table->spec.name, table->refusal.message());
  }
  if (table->state != WorkerTable::State::kPlaced) {
    return FailedPrecondition("table \"{}\" is not started; call Start first", table->spec.name);
  }
  return table;
}

void TableSet::NoteIdle(std::uint32_t group, Iteration iteration) {
  for (auto& [other, idle] : groups_) {
    if (other == group) continue;
    if (iteration - kIdleKept > idle.from()) idle.AdvanceTo(iteration - kIdleKept);
    idle.MarkIdle(iteration);
  }
}

Iteration TableSet::SettledBefore(Iteration now) const {
  Iteration before = now;
  ForEachBlock([&before](const WorkerBlock& block) {
    if (block.table->IsOwnClock() || block.pushes.empty()) return;
    before = std::min(before, block.pushes.front().iteration);
  });
  return before;
}

bool TableSet::HoldsSums() const {
  return std::ranges::any_of(tables_, [](const std::unique_ptr<WorkerTable>& table) {
    return table->state == WorkerTable::State::kPlaced && !table->sum.empty();
  });
}

}  // namespace leeway
