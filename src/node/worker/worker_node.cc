#include "node/worker/worker_node.h"

#include <utility>

#include "base/check.h"
#include "node/worker/core.h"

namespace leeway {

WorkerNode::WorkerNode(const WorkerOptions& options, Env& env, const Registry<SyncModel>& models,
                       AddressSource scheduler, WorkerNodeEvents& events)
    : core_(std::make_unique<Core>(options, env, models, std::move(scheduler), events)) {}
WorkerNode::~WorkerNode() = default;

void WorkerNode::Join(Done done) {
  core_->Join(std::move(done));
  core_->RunLater();
}

WorkerId WorkerNode::rank() const { return core_->rank(); }
const JobOptions& WorkerNode::job() const { return core_->job(); }

Result<TableId> WorkerNode::CreateTable(const TableSpec& spec, ParameterPair& pair) {
  return core_->CreateTable(spec, pair);
}

void WorkerNode::Start(Done done) {
  core_->NoteAct();
  core_->Start(std::move(done));
  core_->RunLater();
}

void WorkerNode::Broadcast(TableId table, std::span<const float> values, std::shared_ptr<const void> pin,
                           Done done) {
  core_->NoteAct();
  core_->Broadcast(table, values, std::move(pin), std::move(done));
  core_->RunLater();
}

void WorkerNode::Assign(TableId table, AssignedArray array, LentGradient values, Done done) {
  core_->NoteAct();
  core_->Assign(table, array, std::move(values), std::move(done));
  core_->RunLater();
}

void WorkerNode::ReadArrays(TableId table, ArraysWanted what, ArraysDone done) {
  core_->NoteAct();
  core_->ReadArrays(table, what, std::move(done));
  core_->RunLater();
}

Status WorkerNode::GradientReady(TableId table, LentGradient gradient, Done done) {
  core_->NoteAct();
  const Status taken = core_->GradientReady(table, std::move(gradient), std::move(done));
  core_->RunLater();
  return taken;
}

Status WorkerNode::EndIteration(std::optional<std::uint32_t> group) {
  core_->NoteAct();
  const Status ended = core_->EndIteration(group);
  core_->RunLater();
  return ended;
}

void WorkerNode::WhenUsable(TableId table, Done usable) {
  core_->NoteAct();
  core_->WhenUsable(table, std::move(usable));
  core_->RunLater();
}

Status WorkerNode::PushOwn(TableId table, LentGradient gradient, Done done) {
  core_->NoteAct();
  return core_->PushOwn(table, std::move(gradient), std::move(done));
}

Status WorkerNode::PullInto(TableId table, std::span<float> values, Done done) {
  core_->NoteAct();
  return core_->PullInto(table, values, std::move(done));
}

void WorkerNode::BeginCalls() { core_->BeginCalls(); }
void WorkerNode::EndCalls() {
  core_->EndCalls();
  core_->RunLater();
}

Status WorkerNode::MayMeet(const std::string& what) const { return core_->MayMeet(what); }
std::vector<std::string> WorkerNode::SyncsOf(const std::string& tables) const {
  return core_->SyncsOf(tables);
}
void WorkerNode::Barrier(const std::string& name, Done done) {
  core_->NoteAct();
  core_->Barrier(name, std::move(done));
  core_->RunLater();
}

void WorkerNode::LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                              std::span<const Iteration> used,
                              std::function<void(const Status&, const BatchLease&)> done) {
  core_->NoteAct();
  core_->LeaseBatches(pool, batches, wanted, used, std::move(done));
  core_->RunLater();
}

void WorkerNode::SetSync(const std::string& rule, std::function<void(const Status&, std::uint32_t)> done) {
  core_->NoteAct();
  core_->SetSync(rule, std::move(done));
  core_->RunLater();
}

void WorkerNode::Leave(Done done) {
  core_->NoteAct();
  core_->Leave(std::move(done));
  core_->RunLater();
}

void WorkerNode::Finish(Done done) {
  core_->NoteAct();
  core_->Finish(std::move(done));
  core_->RunLater();
}

void WorkerNode::Shutdown(Done done) {
  core_->Shutdown(std::move(done));
  core_->RunLater();
}

void WorkerNode::Abandon(const Status& why) {
  LW_CHECK(!why.ok(), "abandoned without a reason");
  core_->Fail(why);
  core_->RunLater();
}

bool WorkerNode::StateWanted() const { return core_->StateWanted(); }
void WorkerNode::GiveState(std::shared_ptr<const std::vector<std::byte>> state) {
  core_->GiveState(std::move(state));
}
std::shared_ptr<const std::vector<std::byte>> WorkerNode::restored_state() const {
  return core_->restored_state();
}

Iteration WorkerNode::iteration() const { return core_->iteration(); }

bool WorkerNode::goes_on() const { return core_->goes_on(); }
const WorkerCounters& WorkerNode::counters() const { return core_->counters(); }
void WorkerNode::SetFigure(const std::string& name, double value) { core_->SetFigure(name, value); }
void WorkerNode::SetResumeObserver(std::function<void(TableId, BlockId, Term, Seq)> observer) {
  core_->SetResumeObserver(std::move(observer));
}

void WorkerNode::SetVerdictObserver(VerdictObserver observer) {
  core_->SetVerdictObserver(std::move(observer));
}
std::string WorkerNode::WaitingFor() const { return core_->WaitingFor(); }
void WorkerNode::ExplainWait(Explained done) {
  core_->ExplainWait(std::move(done));
  core_->RunLater();
}

}  // namespace leeway
