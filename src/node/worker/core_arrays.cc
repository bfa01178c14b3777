// Arrays of tables that this worker sets and reads outside of any iteration: values, and the optimizer's
// state.
#include <memory>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::Assign(TableId id, AssignedArray array, LentGradient values, Done done) {
  if (Status member = CheckMember(); !member.ok()) return LaterDone(std::move(done), member);
  Result<WorkerTable*> found = FindPlaced(id);
  if (!found.ok()) return LaterDone(std::move(done), found.status());
  WorkerTable& table = **found;
  if (table.IsOwnClock()) {
    return LaterDone(std::move(done),
                     FailedPrecondition("table \"{}\" has a clock of its own: only tables of the job's clock "
                                        "can be set",
                                        table.spec.name));
  }
  if (values.values.size() != table.elements) {
    return LaterDone(std::move(done), InvalidArgument("table \"{}\": got {} values to set, wanted {}",
                                                      table.spec.name, values.values.size(), table.elements));
  }
  // Its place in the queue says which iteration comes next. A server that takes over would wait for one that
  // this worker has pushed and does not push again.
  if (table.pushed >= iteration_) {
    return LaterDone(std::move(done), FailedPrecondition("table \"{}\" has pushed its gradient of iteration "
                                                         "{}; set it between Clock and the next Update",
                                                         table.spec.name, iteration_.value()));
  }
  std::shared_ptr<LentPush> lent = TakeLent();
  lent->table = id;
  lent->iteration = iteration_;
  lent->steps = steps_;
  lent->assigns = array;
  lent->gradient = std::move(values);
  GuardOffer(table, lent->gradient, done);
  lent->done = std::move(done);
  lent->blocks = lent->blocks_left = table.blocks.size();
  lent->blocks_refused = 0;
  unsettled_ += table.blocks.size();
  for (WorkerBlock& block : table.blocks) {
    PortOf(block).ChangeQueue(block, [&](PushQueue& queue) {
      queue.Append(iteration_, lent, table.landing.InUse(block.index), block.bytes());
    });
  }
  lent.reset();  // nobody but the queues holds it: it is returned when they have let go
  FlushAll();
}

void WorkerNode::Core::OnAssigned(WorkerBlock& block, QueuedPush& push, wire::Verdict verdict) {
  LentPush& lent = *push.lent;
  if (block.assigns.size() == WorkerBlock::kAssignsMax) block.assigns.erase(block.assigns.begin());
  block.assigns.push_back(push.seq);
  if (verdict == wire::Verdict::kApplied) block.seen = block.term;
  if (verdict == wire::Verdict::kRefused) ++lent.blocks_refused;
  if (verdict == wire::Verdict::kLateDropped) ++lent.assigns->blocks_late;
  if (--lent.blocks_left > 0) return;
  Status outcome;
  const char* const what = lent.assigns->array == 0 ? "values" : "optimizer's state";
  if (lent.blocks_refused > 0) {
    outcome = InvalidArgument(
        "table \"{}\": the {} of {} of {} blocks were refused: they hold a NaN or an infinity, or the "
        "optimizer \"{}\" has no array {}; or the server has no memory left, and its log says so",
        block.table->spec.name, what, lent.blocks_refused, lent.blocks, block.table->spec.optimizer,
        lent.assigns->array);
  } else if (lent.assigns->blocks_late > 0) {
    outcome = FailedPrecondition(
        "table \"{}\": {} of {} blocks have gone on since this worker read them (under \"{}\" gradients of "
        "others are applied meanwhile, or another server has taken them over), so that setting their {} "
        "would "
        "undo those; set them under bsp, or before the first gradient, and again after a server was replaced",
        block.table->spec.name, lent.assigns->blocks_late, lent.blocks, block.model->sync, what);
  }
  Return(std::move(push.lent), outcome);
}

void WorkerNode::Core::ReadArrays(TableId id, ArraysWanted what, ArraysDone done) {
  Result<WorkerTable*> found = phase_ == Phase::kFailed ? failure_ : FindPlaced(id);
  if (found.ok() && (phase_ == Phase::kNew || phase_ == Phase::kJoining || phase_ == Phase::kStopped))
    found = CheckMember();
  if (found.ok() && phase_ == Phase::kFinished && !gone_.ok()) found = gone_;
  if (!found.ok()) return Later([done = std::move(done), why = found.status()] { done(why, {}); });
  (void)reads_.Begin(**found, what, std::move(done), env_.clock.Now());
  SendReads();
}

void WorkerNode::Core::FailReads(const Status& why) {
  for (const std::shared_ptr<ArrayRead>& read : reads_.TakeAll()) Later([read, why] { read->done(why, {}); });
}

void WorkerNode::Core::SendReads() {
  if (reads_.empty()) return;
  for (const std::shared_ptr<ArrayRead>& read : reads_.open()) {
    for (const std::unique_ptr<ShardPort>& port : ports_) {
      if (!port->link().up()) continue;
      wire::Read message;
      const auto send = [&] {
        message.worker = stance_.worker;
        message.incarnation = stance_.incarnation;
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

Result<Landing> WorkerNode::Core::LandArrays(const FrameHead& head, std::span<const std::byte> body) {
  auto lease = std::make_shared<ArraysLanding>();
  LW_RETURN_IF_ERROR(wire::Decode(body, head.payload_bytes, lease->arrays));
  LW_RETURN_IF_ERROR(CheckAddressee(lease->arrays.worker, lease->arrays.incarnation));
  lease->read = reads_.Find(lease->arrays.request);
  Landing landing;
  if (lease->read == nullptr) {
    lease->nowhere.resize(head.payload_bytes);
    landing.places.push_back(lease->nowhere);
  } else {
    for (const wire::ArraysEntry& entry : lease->arrays.entries) {
      if (entry.payload_bytes == 0) continue;
      const WorkerBlock* block = FindBlock(entry.block);
      if (block == nullptr)
        return Protocol("arrays of block {}, which no table of this worker has", entry.block.value());
      LW_ASSIGN_OR_RETURN(const std::span<float> place, ArrayReads::PlaceOf(*lease->read, *block, entry));
      landing.places.push_back(std::as_writable_bytes(place));
    }
  }
  landing.lease = std::move(lease);
  return landing;
}

Status WorkerNode::Core::OnArrays(const ShardPort& port, const wire::Arrays& arrays) {
  LW_RETURN_IF_ERROR(CheckAddressee(arrays.worker, arrays.incarnation));
  const std::shared_ptr<ArrayRead> read = reads_.Find(arrays.request);
  if (read == nullptr) return Status::Ok();
  for (const wire::ArraysEntry& entry : arrays.entries) {
    const WorkerBlock* block = FindBlock(entry.block);
    if (block == nullptr)
      return Protocol("arrays of block {}, which no table of this worker has", entry.block.value());
    if (block->shard != port.shard() || block->term != entry.term) continue;  // of an owner before
    LW_ASSIGN_OR_RETURN(const std::shared_ptr<ArrayRead> whole, reads_.OnEntry(read, *block, entry));
    if (whole == nullptr) continue;
    Status outcome;
    if (whole->empty_block)
      outcome = FailedPrecondition("table \"{}\" has no initial values yet", whole->table->spec.name);
    // A copy: a frame of an owner before may still be landing in it.
    Later([whole, outcome] { whole->done(outcome, whole->state); });
    break;
  }
  return Status::Ok();
}

}  // namespace leeway
