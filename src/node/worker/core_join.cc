// Joining the job, and staying connected to it.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// Times give_up_after: longer than a job waits for a server, unless told otherwise.
constexpr int kShardPatience = 3;

JobOptions JobFromWire(const wire::pb::Job& from) {
  JobOptions job;
  job.job = from.job();
  job.workers = from.workers();
  job.servers = from.servers();
  job.shards = from.shards();
  job.sync = from.sync();
  job.apply = from.apply();
  job.placement = from.placement();
  job.block_bytes = from.block_bytes();
  job.seed = from.seed();
  if (!from.pull().empty()) job.pull = from.pull();
  if (!from.exchange().empty()) job.exchange = from.exchange();
  job.overlap = !from.no_overlap();
  return job;
}

}  // namespace

WorkerNode::Core::Core(const WorkerOptions& options, Env& env, const Registry<SyncModel>& models,
                       AddressSource scheduler, WorkerNodeEvents& events)
    : options_(options),
      env_(env),
      events_(events),
      life_(env.random.Next() | 1),
      scheduler_(env, options.link, std::move(scheduler), 0, "the scheduler", *this),
      requests_(env.clock, scheduler_,
                [this](std::function<void()> callback) { due_.Later(std::move(callback)); }),
      client_state_(env, options.keeps_state,
                    {.answer =
                         [this](const wire::pb::RankState& answer) {
                           state_answer_ = answer;
                           AnswerIfSettled();
                           if (phase_ != Phase::kFinishing) return;
                           FinishIfWhole();
                           due_.Run();
                         },
                     .wanted = [this](Iteration from) { events_.OnStateWanted(from); }}),
      tables_(env.arena),
      loans_(env.timers, due_, [this] { OnLoansLooked(); }),
      rules_(models),
      partial_(env.timers, counters_, [this] {
        LetUseAll();
        due_.Run();
      }) {
  stance_.worker = kNoWorker;
}

WorkerNode::Core::~Core() {
  DropInquiries();
  for (const TimerId timer : {report_timer_, map_timer_, broken_timer_}) env_.timers.Cancel(timer);
}

void WorkerNode::Core::Join(Done done) {
  if (phase_ != Phase::kNew) {
    return due_.LaterDone(std::move(done),
                          failure_.ok() ? FailedPrecondition("a worker joins once") : failure_);
  }
  phase_ = Phase::kJoining;
  phase_since_ = env_.clock.Now();
  join_done_.push_back(std::move(done));
  scheduler_.Start();
}

wire::pb::Hello WorkerNode::Core::MakeHello(std::uint32_t) {
  wire::pb::Hello hello;
  hello.set_job(options_.job);
  hello.set_role(wire::pb::ROLE_WORKER);
  hello.set_life(life_);
  const bool known = stance_.worker != kNoWorker;
  hello.set_rank(known ? static_cast<std::int64_t>(stance_.worker.value()) : options_.rank);
  hello.set_incarnation(stance_.incarnation.value());
  hello.set_host(options_.host);
  hello.set_pid(options_.pid);
  if (options_.wait_max) hello.set_wait_max_ms(static_cast<std::uint64_t>(options_.wait_max->count()));
  return hello;
}

void WorkerNode::Core::OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) {
  if (link == 0) {
    OnWelcome(welcome);
  } else {
    const std::size_t shard = link - 1;
    ports_.OnUp(shard);
    reads_.Unsend(ports_.At(shard).shard());
    SendReads();
    JoinIfAllUp();
  }
  due_.Run();
}

void WorkerNode::Core::OnWelcome(const wire::pb::Welcome& welcome) {
  const WorkerId rank(welcome.id());
  const Incarnation incarnation(welcome.incarnation());
  if (stance_.worker == kNoWorker) {
    stance_.worker = rank;
    stance_.incarnation = incarnation;
    job_ = JobFromWire(welcome.job());
    if (const Status policies = TakePolicies(); !policies.ok()) return Fail(policies);
    report_timer_ = env_.timers.After(options_.link.beat, [this] { OnReportTimer(); });
    return;
  }
  ++counters_.reconnects;
  if (stance_.worker != rank || stance_.incarnation != incarnation) {
    return Fail(
        Fenced("the scheduler took this worker for rank {} incarnation {}, wanted rank {} incarnation {}",
               rank.value(), incarnation.value(), stance_.worker.value(), stance_.incarnation.value()));
  }
  requests_.ResendAll();
}

Status WorkerNode::Core::TakePolicies() {
  LW_ASSIGN_OR_RETURN(const PullPolicy pull, ParsePullPolicy(job_.pull));
  partial_.SetPolicy(pull);
  LW_ASSIGN_OR_RETURN(const ExchangePolicy exchange, ParseExchangePolicy(job_.exchange));
  exchange_.SetPolicy(exchange);
  if (!job_.overlap) step_.Enable();
  return Status::Ok();
}

void WorkerNode::Core::OnDown(std::uint32_t link, const Status& why) {
  const Link& lost = link == 0 ? scheduler_ : ports_.At(link - 1).link();
  env_.log.Write(LogLevel::kInfo,
                 fmt::format("lost the connection to {}: {}; reconnecting", lost.peer(), why.message()));
}

void WorkerNode::Core::OnFailed(std::uint32_t, const Status& why) {
  if (phase_ == Phase::kFinished) {  // the job may end before this worker says goodbye
    gone_ = why;
    FailReads(why);
  } else {
    Fail(why);
  }
  due_.Run();
}

void WorkerNode::Core::OnRoster(const wire::pb::Roster& roster) {
  const std::vector<wire::pb::Shard> before = roster_.shards();
  if (!roster_.Take(roster, stance_.worker, stance_.incarnation)) return;
  const wire::pb::Member* self = roster_.self();
  if ((self != nullptr && self->dead()) || roster_.is_replaced()) {
    return Fail(Fenced("worker {} incarnation {} was declared dead in epoch {}", stance_.worker.value(),
                       stance_.incarnation.value(), roster_.epoch().value()));
  }
  const bool entered = self != nullptr && !self->joining();
  if (phase_ == Phase::kJoining && roster_.gathered() && entered && ports_.all().empty()) {
    iteration_ = Iteration(self->first());
    goes_on_ = self->goes_on();
    if (self->has_restore()) ReadState(self->restore());
    if (Status opened = OpenPorts(); !opened.ok()) return Fail(opened);
  }
  for (std::size_t i = 0; i < ports_.all().size() && i < before.size(); ++i) {
    if (before[i].life() != roster_.shards()[i].life()) OnReplaced(ports_.At(i));
  }
  if (phase_ == Phase::kFinishing && final_progress_ == kIterationMax && roster_.AllGone()) PullFinal();
}

void WorkerNode::Core::ReadState(const wire::pb::RankRestore& from) {
  reading_state_ = true;
  client_state_.Read(from, stance_.worker, [this](const Status& read) {
    reading_state_ = false;
    if (read.ok()) {
      JoinIfAllUp();
    } else {
      Fail(read);
    }
    due_.Run();
  });
}

void WorkerNode::Core::GiveState(RankBytes state) {
  if (phase_ == Phase::kMember) client_state_.Give(iteration_, std::move(state), tables_.HoldsSums());
}

Status WorkerNode::Core::OpenPorts() {
  const std::vector<wire::pb::Shard>& shards = roster_.shards();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].shard() != i) return Protocol("the roster has no shard {} of {}", i, shards.size());
  }
  if (shards.empty()) return Protocol("the roster names no shard");
  // A server that died may be replaced: whether the job waits for that, and for how long, is the scheduler's
  // to say.
  LinkOptions to_shard = options_.link;
  to_shard.give_up_after *= kShardPatience;
  for (const wire::pb::Shard& shard : shards) {
    const std::size_t index = shard.shard();
    const std::string name =
        fmt::format("server {} shard {}", shard.server(), index % std::max(job_.shards, 1U));
    auto where = [this, index]() -> Result<std::string> { return roster_.shards()[index].address(); };
    auto link = std::make_unique<Link>(env_, to_shard, where, static_cast<std::uint32_t>(index + 1), name,
                                       static_cast<LinkEvents&>(*this));
    link->TrustSecret();  // the scheduler, which names these addresses, has proven it
    ports_.Add(std::move(link), shard.server());
  }
  for (const std::unique_ptr<ShardPort>& port : ports_.all()) port->link().Start();
  return Status::Ok();
}

void WorkerNode::Core::JoinIfAllUp() {
  if (phase_ != Phase::kJoining || reading_state_ || !ports_.AllUp()) return;
  phase_ = Phase::kMember;
  for (Done& done : std::exchange(join_done_, {})) due_.LaterDone(std::move(done), Status::Ok());
}

}  // namespace leeway
