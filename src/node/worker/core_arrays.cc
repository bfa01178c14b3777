// Arrays of tables that this worker sets and reads outside of any iteration: values, and the optimizer's
// state.
#include <memory>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::Assign(TableId id, AssignedArray array, LentGradient values, Done done) {
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(done), found.status());
  WorkerTable& table = **found;
  if (table.IsOwnClock()) {
    return due_.LaterDone(
        std::move(done),
        FailedPrecondition("table \"{}\" has a clock of its own: only tables of the job's clock "
                           "can be set",
                           table.spec.name));
  }
  if (values.values.size() != table.elements) {
    return due_.LaterDone(std::move(done),
                          InvalidArgument("table \"{}\": got {} values to set, wanted {}", table.spec.name,
                                          values.values.size(), table.elements));
  }
  // Its place in the queue says which iteration comes next. A server that takes over would wait for one that
  // this worker has pushed and does not push again.
  if (table.pushed >= iteration_) {
    return due_.LaterDone(std::move(done),
                          FailedPrecondition("table \"{}\" has pushed its gradient of iteration "
                                             "{}; set it between Clock and the next Update",
                                             table.spec.name, iteration_.value()));
  }
  GuardOffer(table, values, done);
  std::shared_ptr<LentPush> lent = loans_.Take(table, iteration_, steps_, std::move(values), std::move(done));
  lent->assigns = array;
  ports_.Push(table, std::move(lent));
  ports_.Flush();
}

void WorkerNode::Core::ReadArrays(TableId id, ArraysWanted what, ArraysDone done) {
  Result<WorkerTable*> found = phase_ == Phase::kFailed ? failure_ : tables_.FindPlaced(id);
  if (found.ok() && (phase_ == Phase::kNew || phase_ == Phase::kJoining || phase_ == Phase::kStopped))
    found = CheckMember();
  if (found.ok() && phase_ == Phase::kFinished && !gone_.ok()) found = gone_;
  if (!found.ok()) return due_.Later([done = std::move(done), why = found.status()] { done(why, {}); });
  (void)reads_.Begin(**found, what, std::move(done), env_.clock.Now());
  SendReads();
}

void WorkerNode::Core::FailReads(const Status& why) {
  for (const std::shared_ptr<ArrayRead>& read : reads_.TakeAll())
    due_.Later([read, why] { read->done(why, {}); });
}

void WorkerNode::Core::SendReads() {
  if (reads_.empty()) return;
  for (const std::shared_ptr<ArrayRead>& read : reads_.open()) {
    for (const std::unique_ptr<ShardPort>& port : ports_.all()) {
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
      const WorkerBlock* block = tables_.FindBlock(entry.block);
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
    const WorkerBlock* block = tables_.FindBlock(entry.block);
    if (block == nullptr)
      return Protocol("arrays of block {}, which no table of this worker has", entry.block.value());
    if (block->shard != port.shard() || block->term != entry.term) continue;  // of an owner before
    LW_ASSIGN_OR_RETURN(const std::shared_ptr<ArrayRead> whole, reads_.OnEntry(read, *block, entry));
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

}  // namespace leeway
