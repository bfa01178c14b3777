// Tables: naming them, agreeing on them with the job, their initial values, and where their blocks are.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "leeway/arena.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

bool ShareMemory(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;  // of pointers into different arrays too
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

}  // namespace

Result<TableId> WorkerNode::Core::CreateTable(const TableSpec& spec, ParameterPair& pair) {
  LW_RETURN_IF_ERROR(CheckMember());
  return tables_.Create(spec, pair);
}

void WorkerNode::Core::Start(Done done) {
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  const std::vector<WorkerTable*> tables = tables_.TakeCreated();
  std::vector<TableSpec> specs;
  for (const WorkerTable* table : tables) specs.push_back(table->spec);
  if (tables.empty()) return due_.LaterDone(std::move(done), Status::Ok());
  requests_.Define(
      specs, {}, [this, tables, done = std::move(done)](const Status& answer, const wire::pb::TableMap& map) {
        const Status status = answer.ok() ? TakeMap(tables, map) : answer;
        if (!status.ok()) {
          for (WorkerTable* table : tables) {
            table->state = WorkerTable::State::kRefused;
            table->refusal = status;
          }
        }
        due_.LaterDone(done, status);
      });
}

Status WorkerNode::Core::TakeMap(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map) {
  if (static_cast<std::size_t>(map.tables_size()) != tables.size()) {
    return Protocol("a map of {} tables, wanted {}", map.tables_size(), tables.size());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const wire::pb::Table& entry = map.tables(static_cast<int>(i));
    LW_RETURN_IF_ERROR(TableSet::Place(*tables[i], entry, ports_.all().size()));
    LW_RETURN_IF_ERROR(rules_.TakeModels(*tables[i], entry, job_.sync, ports_.servers()));
    if (partial_.partial().enabled()) tables[i]->landing.LandAside();
  }
  for (WorkerTable* table : tables) {
    tables_.Index(*table);
    for (WorkerBlock& block : table->blocks) ports_.Of(block).AddBlock(block);
    // A table or a worker that comes late has no gradients of the iterations before: without this its blocks
    // would wait for them, and the first pull for the blocks.
    table->pushed = (table->IsOwnClock() ? table->own_first : iteration_) - 1;
    if (table->pushed >= Iteration(0)) ports_.MarkAbsent(*table, table->pushed);
    table->exchanged = table->pushed;
    if (!table->IsOwnClock()) ports_.Pull(*table, table->pushed, env_.clock.Now());
  }
  CountRules();
  ports_.Flush();
  return Status::Ok();
}

void WorkerNode::Core::Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin,
                                 Done done) {
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(done), found.status());
  WorkerTable& table = **found;
  if (values.size() != table.elements) {
    return due_.LaterDone(std::move(done), InvalidArgument("table \"{}\": got {} initial values, wanted {}",
                                                           table.spec.name, values.size(), table.elements));
  }
  if (table.init_left > 0) {
    return due_.LaterDone(
        std::move(done), FailedPrecondition("table \"{}\": a broadcast is still under way", table.spec.name));
  }
  LentGradient offer{values, std::move(pin), {}, 1};
  GuardOffer(table, offer, done);
  const auto lent = loans_.Take(table, iteration_, steps_, std::move(offer), std::move(done));
  table.init_left = table.blocks.size();
  inits_open_ += table.blocks.size();
  for (WorkerBlock& block : table.blocks) {
    block.init = lent;
    block.init_sent = false;
    ports_.Of(block).Touch(block);
  }
  ports_.Flush();
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
        ports_.Flush();
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
  if (!refused) block.seen = block.term;
  loans_.OnInitialized(block, std::move(lent), refused);
  LeaveIfSettled();
}

void WorkerNode::Core::OnMoved(WorkerBlock& block) {
  ports_.Of(block).ChangeQueue(block, [](PushQueue& queue) { queue.OnMoved(); });
  block.moved = true;
  block.place_asked = false;
  reads_.Unsend(block);
  ArmMapRequest();
}

void WorkerNode::Core::OnReplaced(ShardPort& port) {
  // Every block, also one that has nothing to send now: the others wait there until this worker has said
  // where it goes on.
  tables_.ForEachBlock([this, &port](WorkerBlock& block) {
    if (block.shard == port.shard()) OnMoved(block);
  });
  port.link().Readdress();
}

void WorkerNode::Core::OnResumed(WorkerBlock& block, Seq last) {
  block.resuming = false;
  map_backoff_ = {};  // the block was found
  SendReads();
  ShardPort& port = ports_.Of(block);
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
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
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
    for (WorkerBlock& block : tables[i]->blocks) ports_.Of(block).RemoveBlock(block);
    const Status replaced = tables[i]->Replace(map.tables(static_cast<int>(i)), ports_.all().size());
    for (WorkerBlock& block : tables[i]->blocks) {
      ShardPort& port = ports_.Of(block);
      port.AddBlock(block);
      port.Touch(block);
      // What was asked before a block moved does not tell where it is now.
      block.moved = block.moved && !block.place_asked;
      block.init_sent = block.resume_sent = false;
      block.pull.AskAgain();
    }
    if (!replaced.ok()) return Fail(replaced);
    const Status models =
        rules_.TakeModels(*tables[i], map.tables(static_cast<int>(i)), job_.sync, ports_.servers());
    if (!models.ok()) return Fail(models);
  }
  CountRules();
  // A block of another table may have heard MOVED while this answer was on its way.
  if (tables_.FindBlockThat([](const WorkerBlock& block) { return block.moved; }) != nullptr) ArmMapRequest();
  ports_.Flush();
  SendReads();
}

}  // namespace leeway
