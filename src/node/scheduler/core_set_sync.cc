// Another synchronization model for some tables and servers, while the job runs.
//
// All is checked before anything changes; then the rule is in the log before anybody hears of it, as
// everything is. What was answered is kept, and in the log with it: whoever asks again after a lost
// connection is told what became of its rule, and does not undo one that was set since.
#include <fmt/ranges.h>

#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/seconds.h"

namespace leeway {

Status SchedulerNode::Core::CheckTraining() const {
  if (over_) return FailedPrecondition("the job \"{}\" is over", options_.job.job);
  if (!members_.gathered()) {
    return FailedPrecondition("the job \"{}\" has not begun: missing {}", options_.job.job,
                              members_.Missing());
  }
  if (tables_.all().empty()) return FailedPrecondition("the job \"{}\" has no tables yet", options_.job.job);
  return Status::Ok();
}

Status SchedulerNode::Core::TakeSetSync(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::SetSync request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kSetSync, body, request));
  const auto reply = [this, id, number = request.request()](const Status& status, std::size_t tables) {
    wire::pb::SetSyncReply message;
    message.set_request(number);
    message.set_tables(static_cast<std::uint32_t>(tables));
    if (!status.ok()) {
      message.set_error(ClippedMessage(status.message()));
      message.set_error_code(static_cast<std::uint32_t>(status.code()));
    }
    inbound_.SendControl(id, wire::Kind::kSetSyncReply, message);
  };
  const std::uint64_t life = peers_.at(id).life;
  std::optional<SetSyncAnswers::Answer> answer = set_syncs_.Find(life, request.request());
  if (!answer) {
    answer = SetRule(request.rule());
    set_syncs_.Note(life, request.request(), *answer);
  }
  if (!answer->status.ok()) {
    reply(answer->status, 0);
    return Status::Ok();
  }
  // Asked again it changes nothing, and yet is not in force before every shard has what was announced.
  const std::size_t tables = answer->tables;
  const std::uint64_t number =
      switches_.Add({id, synced_at_, env_.clock.Now() + options_.expel_after,
                     [reply, tables](const Status& status) { reply(status, tables); }});
  acks_.When(synced_at_, id, [this, number] { switches_.Done(number); });
  return Status::Ok();
}

SetSyncAnswers::Answer SchedulerNode::Core::SetRule(const std::string& rule) {
  if (Status may = CheckTraining(); !may.ok()) return {std::move(may), 0};
  const Result<TableRegistry::Switched> switched = tables_.Switch(rule);
  if (!switched.ok()) return {switched.status(), 0};
  if (!switched->changed.empty()) {
    AnnounceSync(switched->changed);
    env_.log.Write(LogLevel::kInfo,
                   fmt::format("rule \"{}\" changes {} of {} tables, from epoch {} on", rule,
                               switched->changed.size(), tables_.all().size(), epoch_.value()));
  }
  return {Status::Ok(), static_cast<std::uint32_t>(switched->meant.size())};
}

void SchedulerNode::Core::AnnounceSync(std::span<const TableId> tables) {
  synced_at_ = NextEpoch();
  wire::pb::TableMap for_workers;
  wire::pb::TableMap for_owners;
  for_workers.set_epoch(epoch_.value());
  for_owners.set_epoch(epoch_.value());
  tables_.AddTo(for_workers, tables);
  // With what blocks begin from: one may still be on its way from a checkpoint.
  for (const TableId id : tables) *for_owners.add_tables() = tables_.all()[id.index()].map;
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_MONITOR) continue;
    inbound_.SendControl(id, wire::Kind::kTableMap,
                         peer.role == wire::pb::ROLE_SERVER ? for_owners : for_workers);
  }
}

void SchedulerNode::Core::TellSync(ConnectionId worker) {
  if (!tables_.switched()) return;
  wire::pb::TableMap map;
  map.set_epoch(epoch_.value());
  tables_.AddAllForWorkers(map);
  inbound_.SendControl(worker, wire::Kind::kTableMap, map);
}

void SchedulerNode::Core::ReviewRules() {
  // By then the workers have made their tables.
  if (rules_reviewed_ || tables_.all().empty() || Fastest() <= members_.start()) return;
  rules_reviewed_ = true;
  for (const std::string& rule : tables_.RulesMeaningNone()) {
    std::vector<std::string> names;
    for (const TableRegistry::Entry& entry : tables_.all()) {
      if (names.size() == 8) {
        names.emplace_back("...");
        break;
      }
      names.push_back(entry.spec.name);
    }
    env_.log.Write(LogLevel::kWarning,
                   fmt::format("rule \"{}\" means no table of the job so far; it has {}: {}", rule,
                               tables_.all().size(), fmt::join(names, ", ")));
  }
}

void SchedulerNode::Core::ReviewSwitches() {
  for (const SyncSwitches::Waiting& waiting : switches_.TakeExpired(env_.clock.Now())) {
    std::vector<std::string> missing;
    for (const ShardId id : acks_.Missing(waiting.epoch)) {
      const ShardSeat& seat = members_.shards()[id.index()];
      missing.push_back(
          fmt::format("server {} shard {} at {}", seat.server.value(), seat.shard, seat.address));
    }
    waiting.reply(
        DeadlineExceeded("the rule is set, but after {:.1f} s these have not said that they have it: {}; "
                         "they take it when they are back",
                         Seconds(options_.expel_after), fmt::join(missing, ", ")));
  }
}

}  // namespace leeway
