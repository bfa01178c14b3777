#include "node/worker/worker_node.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace leeway {

using Step = LifeCycle::Step;

namespace {

// A call of the user: counted, and followed by the callbacks that it made due.
class Call {
 public:
  Call(Reporting& reporting, DueCallbacks& due) : due_(due) { reporting.NoteAct(); }
  ~Call() { due_.Run(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  DueCallbacks& due_;
};

}  // namespace

WorkerNode::WorkerNode(const WorkerOptions& options, Env& env, const WorkerPolicies& policies,
                       AddressSource scheduler, WorkerNodeEvents& events)
    : env_(env),
      events_(events),
      joining_(options, env.random.Next() | 1),
      scheduler_(env, options.link, std::move(scheduler), 0, "the scheduler", *this),
      requests_(env.clock, scheduler_,
                [this](std::function<void()> callback) { due_.Later(std::move(callback)); }),
      training_(options, env, policies, joining_.self(), counters_, due_,
                {.at_barrier =
                     [this] {
                       requests_.Barrier(StepBarrier::kName, training_.iteration(), training_.steps(),
                                         [this](const Status& status) {
                                           training_.LeaveBarrier();
                                           if (!life_.Is(WorkerPhase::kMember)) return;
                                           if (!status.ok()) return Fail(status);
                                           training_.OnStepped();
                                         });
                     },
                 .iteration = [this](Iteration now) { events_.OnIteration(now); },
                 .gated = [this](bool gated) { events_.OnGated(gated); },
                 .shown =
                     [this] {
                       // A leave follows the frames that go out after this; `initialized` comes then.
                       if (life_.Is(WorkerPhase::kFinishing)) EnterNextPhase();
                     },
                 .loans_looked =
                     [this] {
                       TellIfDrained();
                       due_.Run();
                     }}),
      intake_(env, options.link, joining_.self(), counters_, due_,
              {.failed = [this](const Status& why) { Fail(why); },
               .initialized = [this] { EnterNextPhase(); },
               .ask = [this] { intake_.AskForPlaces(training_, requests_); }}),
      client_state_(env, options,
                    {.answer =
                         [this](const wire::pb::RankState& answer) {
                           scheduler_.SendControl(wire::Kind::kRankState, answer);
                         },
                     .settled = [this] { return training_.tables().SettledBefore(iteration()); },
                     .decided =
                         [this] {
                           if (!life_.Is(WorkerPhase::kFinishing)) return;
                           EnterNextPhase();
                           due_.Run();
                         },
                     .wanted = [this](Iteration from) { events_.OnStateWanted(from); }}),
      reporting_(env.timers, options.link, scheduler_, counters_, events, due_,
                 {.view = [this] { return View(); },
                  // The client's state may have taken too long to write.
                  .beat = [this] { EnterNextPhase(); }}) {}

void WorkerNode::Join(Done done) {
  if (!life_.Is(WorkerPhase::kNew)) {
    due_.LaterDone(std::move(done),
                   life_.failure().ok() ? FailedPrecondition("a worker joins once") : life_.failure());
  } else {
    life_.Enter(WorkerPhase::kJoining, env_.clock.Now());
    life_.Await(Step::kJoin, std::move(done));
    scheduler_.Start();
  }
  due_.Run();
}

Result<TableId> WorkerNode::CreateTable(const TableSpec& spec, ParameterPair& pair) {
  LW_RETURN_IF_ERROR(CheckMember());
  return training_.tables().Create(spec, pair);
}

void WorkerNode::Start(Done done) {
  const Call call(reporting_, due_);
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  const std::vector<WorkerTable*> tables = training_.tables().TakeCreated();
  std::vector<TableSpec> specs;
  for (const WorkerTable* table : tables) specs.push_back(table->spec);
  if (tables.empty()) return due_.LaterDone(std::move(done), Status::Ok());
  requests_.Define(
      specs, {}, [this, tables, done = std::move(done)](const Status& answer, const wire::pb::TableMap& map) {
        const Status status = answer.ok() ? training_.Place(tables, map) : answer;
        if (!status.ok()) {
          for (WorkerTable* table : tables) {
            table->state = WorkerTable::State::kRefused;
            table->refusal = status;
          }
        }
        due_.LaterDone(done, status);
      });
}

void WorkerNode::Broadcast(TableId table, std::span<const float> values, std::shared_ptr<const void> pin,
                           Done done) {
  const Call call(reporting_, due_);
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  training_.Broadcast(table, {values, std::move(pin), {}, 1}, std::move(done));
}

void WorkerNode::Assign(TableId table, AssignedArray array, LentGradient values, Done done) {
  const Call call(reporting_, due_);
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  training_.Assign(table, array, std::move(values), std::move(done));
}

void WorkerNode::ReadArrays(TableId table, ArraysWanted what, ArraysDone done) {
  const Call call(reporting_, due_);
  Result<WorkerTable*> found =
      life_.Is(WorkerPhase::kFailed) ? life_.failure() : training_.tables().FindPlaced(table);
  if (const Status reader = life_.CheckReader(rank()); found.ok() && !reader.ok()) found = reader;
  if (!found.ok()) return due_.Later([done = std::move(done), why = found.status()] { done(why, {}); });
  intake_.reads().Begin(**found, what, std::move(done), env_.clock.Now());
  intake_.reads().Send(training_.ports());
}

Status WorkerNode::Push(TableId table, LentGradient gradient, Done done) {
  const Call call(reporting_, due_);
  LW_RETURN_IF_ERROR(CheckMember());
  return training_.Push(table, std::move(gradient), std::move(done));
}

Status WorkerNode::Clock(std::optional<std::uint32_t> group) {
  const Call call(reporting_, due_);
  LW_RETURN_IF_ERROR(CheckMember());
  training_.Clock(group);
  return Status::Ok();
}

void WorkerNode::Sync(TableId table, Done usable, TimePoint asked) {
  const Call call(reporting_, due_);
  if (life_.Is(WorkerPhase::kFailed)) return due_.LaterDone(std::move(usable), life_.failure());
  training_.Sync(table, std::move(usable), asked);
}

Status WorkerNode::Pull(TableId table, std::span<float> values, Done done) {
  reporting_.NoteAct();
  // Observers may pull, so this does not ask for a member.
  if (life_.Is(WorkerPhase::kFailed)) return life_.failure();
  return training_.Pull(table, values, std::move(done));
}

void WorkerNode::EndCalls() {
  training_.ports().EndCalls();
  due_.Run();
}

Status WorkerNode::MayMeet(const std::string& what) const {
  LW_RETURN_IF_ERROR(CheckMember());
  return training_.steps() == 0 ? Status::Ok() : training_.rules().MayMeet(what, training_.tables());
}

void WorkerNode::Barrier(const std::string& name, Done done) {
  const Call call(reporting_, due_);
  if (Status may = MayMeet(fmt::format("barrier \"{}\"", name)); !may.ok())
    return due_.LaterDone(std::move(done), may);
  training_.NoteBeforeTraining();
  requests_.Barrier(name, iteration(), training_.steps(), std::move(done));
}

void WorkerNode::LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                              std::span<const Iteration> used,
                              std::function<void(const Status&, const BatchLease&)> done) {
  const Call call(reporting_, due_);
  if (Status member = CheckMember(); !member.ok()) {
    return due_.Later([done = std::move(done), member] { done(member, {}); });
  }
  training_.NoteBeforeTraining();
  // Without a table of the job's clock no push tells what became of a batch: the worker's word is all there
  // is.
  const bool iterates =
      std::ranges::any_of(training_.tables().all(), [](const auto& table) { return !table->IsOwnClock(); });
  requests_.Lease(pool, batches, wanted, used,
                  {iteration(), iterates ? training_.tables().SettledBefore(iteration()) : kIterationMax},
                  std::move(done));
}

void WorkerNode::SetSync(const std::string& rule, std::function<void(const Status&, std::uint32_t)> done) {
  const Call call(reporting_, due_);
  if (Status member = CheckMember(); !member.ok()) {
    return due_.Later([done = std::move(done), member] { done(member, 0); });
  }
  requests_.SetSync(rule, std::move(done));
}

void WorkerNode::Leave(Done done) {
  const Call call(reporting_, due_);
  switch (life_.phase()) {
    case WorkerPhase::kObserver:
    case WorkerPhase::kFinishing:
    case WorkerPhase::kFinished:
      return due_.LaterDone(std::move(done), Status::Ok());
    case WorkerPhase::kLeaving:
      return life_.Await(Step::kLeave, std::move(done));
    default:
      break;
  }
  if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
  life_.Enter(WorkerPhase::kLeaving, env_.clock.Now());
  life_.Await(Step::kLeave, std::move(done));
  client_state_.Leave(iteration());
  if (training_.step().behind()) requests_.ForgetBarrier(StepBarrier::kName);
  training_.Leave();
  EnterNextPhase();
}

void WorkerNode::Finish(Done done) {
  const Call call(reporting_, due_);
  switch (life_.phase()) {
    case WorkerPhase::kFailed:
      return due_.LaterDone(std::move(done), life_.failure());
    case WorkerPhase::kFinished:
      return due_.LaterDone(std::move(done), Status::Ok());
    case WorkerPhase::kFinishing:
      return life_.Await(Step::kFinish, std::move(done));
    case WorkerPhase::kObserver:
      break;
    default:
      return due_.LaterDone(std::move(done),
                            FailedPrecondition("finish after leave: the worker still counts"));
  }
  life_.Enter(WorkerPhase::kFinishing, env_.clock.Now());
  life_.Await(Step::kFinish, std::move(done));
  EnterNextPhase();
}

void WorkerNode::EnterNextPhase() {
  switch (life_.phase()) {
    case WorkerPhase::kJoining:
      if (client_state_.reading() || !training_.ports().AllUp()) return;
      life_.Enter(WorkerPhase::kMember, env_.clock.Now());
      training_.Join();
      return life_.Tell(Step::kJoin, Status::Ok(), due_);
    case WorkerPhase::kLeaving:
      if (!training_.settled() || !life_.TakeLeave()) return;
      reporting_.Report();  // a script may end here without another word
      return requests_.Leave(training_.end(), [this](Epoch epoch) {
        life_.Enter(WorkerPhase::kObserver, env_.clock.Now());
        joining_.BecomeObserver(epoch);
        training_.OnLeft();
        life_.Tell(Step::kLeave, Status::Ok(), due_);
      });
    case WorkerPhase::kFinishing:
      if (!training_.final_asked()) {
        if (!joining_.roster().AllGone()) return;
        joining_.ReadFrom(joining_.roster().epoch());
        training_.PullFinal();  // which may come here again
        if (!life_.Is(WorkerPhase::kFinishing)) return;
      }
      if (!training_.HasFinal() || client_state_.HoldsUpFinish()) return;
      life_.Enter(WorkerPhase::kFinished, env_.clock.Now());
      // No server is needed any more, though a script may go on for long before it says goodbye.
      reporting_.Report();
      return life_.Tell(Step::kFinish, Status::Ok(), due_);
    default:
      return;
  }
}

void WorkerNode::Shutdown(Done done) {
  if (!life_.over()) {
    // The last beat: so that the job's summary has this worker's final figures.
    reporting_.Report();
    // First, so that no pending request takes its end for a failure of the job.
    life_.Enter(WorkerPhase::kStopped, env_.clock.Now());
    FailPending(Cancelled("the worker was shut down"));
    StopLinks(Status::Ok());
  }
  // Not while a send still reads a lent gradient: its owner is told before this.
  if (training_.loans().draining()) {
    life_.Await(Step::kStop, std::move(done));
  } else {
    due_.LaterDone(std::move(done), life_.failure());
  }
  due_.Run();
}

void WorkerNode::Abandon(const Status& why) {
  LW_CHECK(!why.ok(), "abandoned without a reason");
  Fail(why);
  due_.Run();
}

void WorkerNode::Fail(const Status& why) {
  if (life_.over()) return;
  life_.Fail(why);
  events_.OnFailing(why);
  StopLinks(why);
  FailPending(why);
  TellIfDrained();
}

void WorkerNode::TellIfDrained() {
  if (training_.loans().draining()) return;
  if (life_.TakeFailure()) due_.Later([this] { events_.OnFailed(life_.failure()); });
  life_.Tell(Step::kStop, life_.failure(), due_);
}

void WorkerNode::StopLinks(const Status& why) {
  reporting_.Stop();
  intake_.moves().Stop();
  // Shards first: when the scheduler hears of the end, this worker's pushes are no longer under way.
  training_.ports().Stop(why);
  scheduler_.Stop(why);
}

void WorkerNode::FailPending(const Status& why) {
  life_.TellAll(why, due_);
  requests_.FailAll(why);
  intake_.reads().FailAll(why);
  training_.FailAll(why);
}

void WorkerNode::GiveState(RankBytes state) {
  if (life_.Is(WorkerPhase::kMember))
    client_state_.Give(iteration(), std::move(state), training_.tables().HoldsSums());
}

WorkerView WorkerNode::View() const {
  return {.now = env_.clock.Now(),
          .phase = life_.phase(),
          .phase_since = life_.since(),
          .leave_sent = life_.leave_sent(),
          .final_asked = training_.final_asked(),
          .iteration = iteration(),
          .job = job(),
          .roster = joining_.roster(),
          .scheduler = scheduler_,
          .requests = requests_,
          .tables = training_.tables(),
          .ports = training_.ports(),
          .reads = intake_.reads(),
          .partial = training_.partial(),
          .rules = training_.rules(),
          .waits = training_.waits(),
          .overlap = training_.overlap(),
          .step = training_.step(),
          .client_state = client_state_};
}

}  // namespace leeway
