#include "node/scheduler/job_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// As a shell takes it.
std::string AsRuleFlag(const std::string& rule) {
  std::string quoted;
  for (const char c : rule) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("--rule '{}'", quoted);
}

}  // namespace

void JobRules::Set(ConnectionId id, std::uint64_t life, const wire::pb::SetSync& request,
                   const Status& training, TableRegistry& tables) {
  const auto reply = [this, id, number = request.request()](const Status& status, std::size_t meant) {
    wire::pb::SetSyncReply message;
    message.set_request(number);
    message.set_tables(static_cast<std::uint32_t>(meant));
    if (!status.ok()) {
      message.set_error(ClippedMessage(status.message()));
      message.set_error_code(static_cast<std::uint32_t>(status.code()));
    }
    actions_.Send(id, wire::Kind::kSetSyncReply, message);
  };
  std::optional<SetSyncAnswers::Answer> answer = answers_.Find(life, request.request());
  if (!answer) {
    answer = training.ok() ? Change(request.rule(), tables) : SetSyncAnswers::Answer{training, 0};
    answers_.Note(life, request.request(), *answer);
  }
  if (!answer->status.ok()) return reply(answer->status, 0);
  // Asked again it changes nothing, and yet is not in force before every shard has what was announced.
  const std::uint64_t number = ++last_;
  waiting_.emplace(number,
                   Waiting{id, changed_at_, env_.clock.Now() + patience_,
                           [reply, meant = answer->tables](const Status& status) { reply(status, meant); }});
  actions_.WhenAcked(changed_at_, id, [this, number] {
    auto found = waiting_.extract(number);
    if (!found.empty()) found.mapped().reply(Status::Ok());
  });
}

SetSyncAnswers::Answer JobRules::Change(const std::string& rule, TableRegistry& tables) {
  const Result<TableRegistry::Switched> switched = tables.Switch(rule);
  if (!switched.ok()) return {switched.status(), 0};
  if (!switched->changed.empty()) {
    Announce(switched->changed, tables);
    env_.log.Write(LogLevel::kInfo,
                   fmt::format("rule \"{}\" changes {} of {} tables, from epoch {} on", rule,
                               switched->changed.size(), tables.all().size(), changed_at_.value()));
  }
  return {Status::Ok(), static_cast<std::uint32_t>(switched->meant.size())};
}

void JobRules::Announce(std::span<const TableId> changed, const TableRegistry& tables) {
  changed_at_ = actions_.NextEpoch();
  wire::pb::TableMap for_workers;
  wire::pb::TableMap for_owners;
  for_workers.set_epoch(changed_at_.value());
  for_owners.set_epoch(changed_at_.value());
  tables.AddTo(for_workers, changed);
  // With what blocks begin from: one may still be on its way from a checkpoint.
  for (const TableId id : changed) *for_owners.add_tables() = tables.all()[id.index()].map;
  actions_.SendToMembers(wire::Kind::kTableMap, for_owners, for_workers);
}

void JobRules::Forget(ConnectionId whose) {
  std::erase_if(waiting_, [whose](const auto& entry) { return entry.second.whose == whose; });
}

void JobRules::TakeUp(std::span<const std::string> own, std::span<const std::string> rules,
                      TableRegistry& tables) {
  const auto mismatch = std::ranges::mismatch(own, rules);
  if (mismatch.in1 != own.end()) {
    std::vector<std::string> lacking;
    for (const std::string& rule : rules) {
      if (std::ranges::find(own, rule) == own.end()) lacking.push_back(AsRuleFlag(rule));
    }
    if (lacking.empty()) return;
    return env_.log.Write(
        LogLevel::kWarning,
        fmt::format(
            "the job has rules of its own, so those that were in force at the checkpoint are not taken "
            "up; what it lacks of them: {}",
            fmt::join(lacking, " ")));
  }
  std::vector<std::string> taken;
  for (const std::string& rule : std::span(mismatch.in2, rules.end())) {
    if (const Status took = tables.TakeUp(rule); took.ok()) {
      taken.push_back(AsRuleFlag(rule));
    } else {
      env_.log.Write(LogLevel::kWarning,
                     fmt::format("a rule that was in force at the checkpoint is not taken up, since this job "
                                 "cannot have it: {}",
                                 took.message()));
    }
  }
  if (taken.empty()) return;
  env_.log.Write(LogLevel::kInfo, fmt::format("rules that were in force at the checkpoint are taken up: {}",
                                              fmt::join(taken, " ")));
}

void JobRules::Tell(ConnectionId worker, const TableRegistry& tables) {
  if (!tables.switched()) return;
  wire::pb::TableMap map;
  map.set_epoch(actions_.epoch().value());
  tables.AddAllForWorkers(map);
  actions_.Send(worker, wire::Kind::kTableMap, map);
}

void JobRules::NameUnused(const TableRegistry& tables) {
  if (std::exchange(unused_named_, true)) return;
  for (const std::string& rule : tables.RulesMeaningNone()) {
    std::vector<std::string> names;
    for (const TableRegistry::Entry& entry : tables.all()) {
      if (names.size() == 8) {
        names.emplace_back("...");
        break;
      }
      names.push_back(entry.spec.name);
    }
    env_.log.Write(LogLevel::kWarning,
                   fmt::format("rule \"{}\" matches no table of the job so far; it has {}: {}", rule,
                               tables.all().size(), fmt::join(names, ", ")));
  }
}

void JobRules::Review(const std::function<std::vector<std::string>(Epoch)>& unacked) {
  std::vector<Waiting> expired;
  std::erase_if(waiting_, [&](auto& entry) {
    if (entry.second.until > env_.clock.Now()) return false;
    expired.push_back(std::move(entry.second));
    return true;
  });
  for (const Waiting& waiting : expired) {
    waiting.reply(
        DeadlineExceeded("the rule is set, but after {:.1f} s these have not said that they have it: {}; "
                         "they take it when they are back",
                         Seconds(patience_), fmt::join(unacked(waiting.epoch), ", ")));
  }
}

}  // namespace leeway
