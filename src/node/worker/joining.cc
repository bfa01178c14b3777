#include "node/worker/joining.h"

#include <algorithm>
#include <string>

#include "base/errors.h"

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
  job.priorities = !from.no_priorities();
  if (from.pull_at_clock()) job.pull_at = "clock";
  if (from.flush_bytes() > 0) job.flush_bytes = from.flush_bytes();
  return job;
}

}  // namespace

wire::pb::Hello Joining::MakeHello() const {
  wire::pb::Hello hello;
  hello.set_job(options_.job);
  hello.set_role(wire::pb::ROLE_WORKER);
  hello.set_life(life_);
  const bool known = self_.worker != kNoWorker;
  hello.set_rank(known ? static_cast<std::int64_t>(self_.worker.value()) : options_.rank);
  hello.set_incarnation(self_.incarnation.value());
  hello.set_host(options_.host);
  hello.set_pid(options_.pid);
  if (options_.wait_max) hello.set_wait_max_ms(static_cast<std::uint64_t>(options_.wait_max->count()));
  return hello;
}

Result<bool> Joining::OnWelcome(const wire::pb::Welcome& welcome) {
  const WorkerId rank(welcome.id());
  const Incarnation incarnation(welcome.incarnation());
  if (self_.worker == kNoWorker) {
    self_.worker = rank;
    self_.incarnation = incarnation;
    job_ = JobFromWire(welcome.job());
    return true;
  }
  if (self_.worker != rank || self_.incarnation != incarnation) {
    return Fenced("the scheduler took this worker for rank {} incarnation {}, wanted rank {} incarnation {}",
                  rank.value(), incarnation.value(), self_.worker.value(), self_.incarnation.value());
  }
  return false;
}

Result<std::optional<Joining::News>> Joining::OnRoster(const wire::pb::Roster& roster) {
  const std::vector<wire::pb::Shard> before = roster_.shards();
  if (!roster_.Take(roster, self_.worker, self_.incarnation)) return std::optional<News>();
  const wire::pb::Member* self = roster_.self();
  if ((self != nullptr && self->dead()) || roster_.is_replaced()) {
    return Fenced("worker {} incarnation {} was declared dead in epoch {}", self_.worker.value(),
                  self_.incarnation.value(), roster_.epoch().value());
  }
  News news;
  if (!entered_ && roster_.gathered() && self != nullptr && !self->joining()) {
    entered_ = true;
    goes_on_ = self->goes_on();
    news.entered = *self;
  }
  for (std::size_t i = 0; i < std::min(before.size(), roster_.shards().size()); ++i) {
    if (before[i].life() != roster_.shards()[i].life()) news.replaced.push_back(i);
  }
  return std::optional(std::move(news));
}

Status Joining::CheckShards() const {
  const std::vector<wire::pb::Shard>& shards = roster_.shards();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].shard() != i) return Protocol("the roster has no shard {} of {}", i, shards.size());
  }
  return shards.empty() ? Protocol("the roster names no shard") : Status::Ok();
}

Result<std::vector<std::unique_ptr<Link>>> Joining::LinkShards(Env& env, LinkEvents& events) const {
  LW_RETURN_IF_ERROR(CheckShards());
  // A server that died may be replaced. The scheduler decides whether the job waits for that, and for how
  // long.
  LinkOptions to_shard = options_.link;
  to_shard.give_up_after *= kShardPatience;
  std::vector<std::unique_ptr<Link>> links;
  for (const wire::pb::Shard& shard : roster_.shards()) {
    const std::size_t index = shard.shard();
    const std::string name =
        fmt::format("server {} shard {}", shard.server(), index % std::max(job_.shards, 1U));
    auto where = [this, index]() -> Result<std::string> { return roster_.shards()[index].address(); };
    links.push_back(
        std::make_unique<Link>(env, to_shard, where, static_cast<std::uint32_t>(index + 1), name, events));
    links.back()->TrustSecret();  // the scheduler, which names these addresses, has proven it
  }
  return links;
}

}  // namespace leeway
