// Tables: naming them, agreeing on them with the job, their initial values, and where their blocks are.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "leeway/arena.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// Table sizes of a map are checked against this before anything is indexed by a block's id.
constexpr std::uint32_t kBlockIdMax = 16U << 20;

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

bool ShareMemory(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;  // of pointers into different arrays too
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

}  // namespace

Result<TableId> WorkerNode::Core::CreateTable(const TableSpec& spec, ParameterPair& pair) {
  LW_RETURN_IF_ERROR(CheckMember());
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

void WorkerNode::Core::Start(Done done) {
  if (Status member = CheckMember(); !member.ok()) return LaterDone(std::move(done), member);
  std::vector<WorkerTable*> tables;
  std::vector<TableSpec> specs;
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    if (table->state != WorkerTable::State::kCreated) continue;
    table->state = WorkerTable::State::kDefining;
    tables.push_back(table.get());
    specs.push_back(table->spec);
  }
  if (tables.empty()) return LaterDone(std::move(done), Status::Ok());
  requests_.Define(
      specs, {}, [this, tables, done = std::move(done)](const Status& answer, const wire::pb::TableMap& map) {
        const Status status = answer.ok() ? TakeMap(tables, map) : answer;
        if (!status.ok()) {
          for (WorkerTable* table : tables) {
            table->state = WorkerTable::State::kRefused;
            table->refusal = status;
          }
        }
        LaterDone(done, status);
      });
}

Status WorkerNode::Core::TakeMap(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map) {
  if (static_cast<std::size_t>(map.tables_size()) != tables.size()) {
    return Protocol("a map of {} tables, wanted {}", map.tables_size(), tables.size());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const wire::pb::Block& block : map.tables(static_cast<int>(i)).blocks()) {
      if (block.block() > kBlockIdMax)
        return Protocol("block id {}, wanted at most {}", block.block(), kBlockIdMax);
    }
    LW_RETURN_IF_ERROR(tables[i]->Place(map.tables(static_cast<int>(i)), ports_.size()));
    LW_RETURN_IF_ERROR(TakeModels(*tables[i], map.tables(static_cast<int>(i))));
    if (partial_.enabled()) tables[i]->landing.LandAside();
  }
  for (WorkerTable* table : tables) {
    for (WorkerBlock& block : table->blocks) {
      if (blocks_.size() <= block.id.index()) blocks_.resize(block.id.index() + 1, nullptr);
      blocks_[block.id.index()] = &block;
      PortOf(block).AddBlock(block);
    }
    // A table or a worker that comes late has no gradients of the iterations before: without this its blocks
    // would wait for them, and the first pull for the blocks.
    table->pushed = (table->IsOwnClock() ? table->own_first : iteration_) - 1;
    if (table->pushed >= Iteration(0)) MarkAbsent(*table, table->pushed);
    table->exchanged = table->pushed;
    if (!table->IsOwnClock()) PullBlocks(*table, table->pushed);
  }
  CountRules();
  FlushAll();
  return Status::Ok();
}

void WorkerNode::Core::Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin,
                                 Done done) {
  if (Status member = CheckMember(); !member.ok()) return LaterDone(std::move(done), member);
  Result<WorkerTable*> found = FindPlaced(id);
  if (!found.ok()) return LaterDone(std::move(done), found.status());
  WorkerTable& table = **found;
  if (values.size() != table.elements) {
    return LaterDone(std::move(done), InvalidArgument("table \"{}\": got {} initial values, wanted {}",
                                                      table.spec.name, values.size(), table.elements));
  }
  if (table.init_left > 0) {
    return LaterDone(std::move(done),
                     FailedPrecondition("table \"{}\": a broadcast is still under way", table.spec.name));
  }
  auto lent = std::make_shared<LentPush>();
  lent->table = id;
  lent->gradient.values = values;
  lent->gradient.pin = std::move(pin);
  GuardOffer(table, lent->gradient, done);
  lent->done = std::move(done);
  lent->blocks = lent->blocks_left = table.blocks.size();
  table.init_left = table.blocks.size();
  inits_open_ += table.blocks.size();
  for (WorkerBlock& block : table.blocks) {
    block.init = lent;
    block.init_sent = false;
    PortOf(block).Touch(block);
  }
  FlushAll();
}

void WorkerNode::Core::GuardOffer(WorkerTable& table, LentGradient& offer, Done& done) {
  if (table.IsOwnClock()) return;  // nothing lands in its buffers
  if (!ShareMemory(offer.values, table.pair.Buffer(0)) && !ShareMemory(offer.values, table.pair.Buffer(1)))
    return;
  if (table.pair.BackIsFree() && !ShareMemory(offer.values, table.pair.Back())) {
    // While nothing is published the user cannot swap, and while he cannot swap nothing is written here: not
    // by the values of another rank either, nor by those of later iterations if he gives up waiting.
    ++table.front_lent;
    done = [this, &table, done = std::move(done)](const Status& status) {
      --table.front_lent;
      if (phase_ != Phase::kFailed && phase_ != Phase::kStopped) {
        PublishIfWhole(table);
        FinishIfWhole();
        FlushAll();
      }
      if (done) done(status);
    };
    return;
  }
  // A version waits in the back to be taken, and what is the front now may be the next to be written.
  const std::shared_ptr<std::byte> copy = env_.arena.Allocate(offer.values.size_bytes(), Arena::Use::kSent);
  LW_CHECK(copy != nullptr, "out of memory: wanted {} bytes", offer.values.size_bytes());
  auto* const floats = reinterpret_cast<float*>(copy.get());
  std::ranges::copy(offer.values, floats);
  offer.values = {floats, offer.values.size()};
  offer.pin = copy;
}

void WorkerNode::Core::OnInitialized(WorkerBlock& block, bool refused) {
  std::shared_ptr<LentPush> lent = std::exchange(block.init, nullptr);
  if (lent == nullptr) return;  // said twice
  --inits_open_;
  --block.table->init_left;
  if (refused) {
    ++lent->blocks_refused;
  } else {
    block.seen = block.term;
  }
  if (--lent->blocks_left == 0) {
    Status outcome;
    if (lent->blocks_refused > 0) {
      outcome = InvalidArgument(
          "table \"{}\": the initial values of {} of {} blocks were refused: they hold a NaN or an infinity, "
          "wanted finite values; or the server has no memory left, and its log says so",
          block.table->spec.name, lent->blocks_refused, lent->blocks);
    }
    Return(std::move(lent), outcome);
  }
  LeaveIfSettled();
}

Result<WorkerTable*> WorkerNode::Core::FindPlaced(TableId id) {
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

WorkerBlock* WorkerNode::Core::FindBlock(BlockId id) {
  return id.index() < blocks_.size() ? blocks_[id.index()] : nullptr;
}

void WorkerNode::Core::OnMoved(WorkerBlock& block) {
  PortOf(block).ChangeQueue(block, [](PushQueue& queue) { queue.OnMoved(); });
  block.moved = true;
  block.place_asked = false;
  reads_.Unsend(block);
  ArmMapRequest();
}

void WorkerNode::Core::OnReplaced(ShardPort& port) {
  // Every block, also one that has nothing to send now: the others wait there until this worker has said
  // where it goes on.
  for (WorkerBlock* block : blocks_) {
    if (block != nullptr && block->shard == port.shard()) OnMoved(*block);
  }
  port.link().Readdress();
}

void WorkerNode::Core::OnResumed(WorkerBlock& block, Seq last) {
  block.resuming = false;
  map_backoff_ = {};  // the block was found
  SendReads();
  ShardPort& port = PortOf(block);
  const std::uint64_t gone = port.ChangeQueue(block, [last](PushQueue& queue) { return queue.Resume(last); });
  if (resume_observer_) resume_observer_(block.table->id, block.id, block.term, last);
  const std::uint64_t assigns = std::erase_if(block.assigns, [last](Seq seq) { return seq > last; });
  // The scheduler counts for one that has left.
  if (gone == 0 || stance_.observer) return;
  const std::uint64_t lost = gone - std::min(gone, assigns);  // as `pushes` counts, which knows no assigns
  counters_.lost += lost;
  lost_unreported_ = true;
  env_.log.Write(
      LogLevel::kWarning,
      fmt::format("{} lost {} pushes{} of this worker that it had acknowledged: table \"{}\" block {} "
                  "was taken back to a checkpoint",
                  port.link().peer(), lost, assigns > 0 ? fmt::format(" and {} arrays", assigns) : "",
                  block.table->spec.name, block.id.value()));
}

void WorkerNode::Core::ArmMapRequest() {
  if (std::exchange(map_asked_, true)) return;
  map_backoff_ = std::clamp<Duration>(map_backoff_ * 2, options_.link.backoff_min, options_.link.backoff_max);
  map_timer_ = env_.timers.After(map_backoff_, [this] { AskForNewMap(); });
}

void WorkerNode::Core::AskForNewMap() {
  map_timer_ = {};
  std::vector<WorkerTable*> tables;
  std::vector<TableSpec> specs;
  std::vector<wire::pb::SeenBlock> seen;
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    if (std::none_of(table->blocks.begin(), table->blocks.end(),
                     [](const WorkerBlock& b) { return b.moved; }))
      continue;
    for (WorkerBlock& block : table->blocks) {
      block.place_asked = block.moved;
      if (!block.moved || block.seen == Term(0)) continue;
      wire::pb::SeenBlock& had_values = seen.emplace_back();
      had_values.set_block(block.id.value());
      had_values.set_term(block.seen.value());
    }
    tables.push_back(table.get());
    specs.push_back(table->spec);
  }
  requests_.Define(specs, seen, [this, tables](const Status& answer, const wire::pb::TableMap& map) {
    map_asked_ = false;
    if (phase_ == Phase::kFailed) return;
    if (!answer.ok()) return Fail(answer);
    TakeNewMap(tables, map);
  });
}

void WorkerNode::Core::TakeNewMap(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map) {
  if (static_cast<std::size_t>(map.tables_size()) != tables.size()) {
    return Fail(Protocol("a map of {} tables, wanted {}", map.tables_size(), tables.size()));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (WorkerBlock& block : tables[i]->blocks) PortOf(block).RemoveBlock(block);
    const Status replaced = tables[i]->Replace(map.tables(static_cast<int>(i)), ports_.size());
    for (WorkerBlock& block : tables[i]->blocks) {
      ShardPort& port = PortOf(block);
      port.AddBlock(block);
      port.Touch(block);
      // What was asked before a block moved does not tell where it is now.
      block.moved = block.moved && !block.place_asked;
      block.init_sent = block.resume_sent = false;
      block.pull.AskAgain();
    }
    if (!replaced.ok()) return Fail(replaced);
    if (const Status models = TakeModels(*tables[i], map.tables(static_cast<int>(i))); !models.ok())
      return Fail(models);
  }
  CountRules();
  // A block of another table may have heard MOVED while this answer was on its way.
  const bool more = std::any_of(blocks_.begin(), blocks_.end(),
                                [](const WorkerBlock* block) { return block != nullptr && block->moved; });
  if (more) ArmMapRequest();
  FlushAll();
  SendReads();
}

}  // namespace leeway
