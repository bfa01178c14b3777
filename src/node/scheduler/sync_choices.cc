#include "node/scheduler/sync_choices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/errors.h"
#include "block/apply_mode.h"
#include "sync/pull_policy.h"
#include "sync/sync_policy.h"
#include "sync/worker_fit.h"

namespace leeway {
namespace {

// A server that no rule can name.
constexpr std::uint32_t kOtherServer = std::numeric_limits<std::uint32_t>::max();

// A name that the glob fits, as short as can be.
std::string NameThatFits(std::string glob) {
  std::erase(glob, '*');
  std::ranges::replace(glob, '?', '_');
  return glob;
}

// How many specs that were tried are kept; beyond, all are tried again.
constexpr std::size_t kSoundMax = 64;

Status CheckRelayFit(std::string_view apply, const JobOptions& job,
                     const Registry<ExchangePolicy>& exchanges) {
  const Result<PullPolicy> pull = ParsePullPolicy(job.pull);
  if (pull.ok() && pull->partial) {
    return InvalidArgument(
        "apply \"{}\" with pull \"{}\": workers step with the mean gradients of every iteration, and a "
        "partial pull leaves some out; use pull \"full\"",
        apply, job.pull);
  }
  const Result<ExchangePolicyPtr> exchange = exchanges.MakeFromSpec(job.exchange);
  if (!exchange.ok() || (*exchange)->EveryIteration()) return Status::Ok();
  return InvalidArgument(
      "apply \"{}\" with exchange \"{}\": workers step with the mean gradients of every iteration, and none "
      "leave in some; use exchange \"every:1\"",
      apply, job.exchange);
}

// Whether `newer` covers all of `older`.
bool Covers(const SyncRule& newer, const SyncRule& older) {
  return newer.tables == older.tables && (!newer.server || newer.server == older.server) &&
         (!newer.sync.empty() || older.sync.empty());
}

}  // namespace

SyncChoices::SyncChoices(const JobOptions& job, const Registry<SyncModel>& models,
                         const Registry<ExchangePolicy>& exchanges)
    : job_(job), models_(&models), exchanges_(&exchanges) {}

Status SyncChoices::TakeJobRules(std::size_t* which) {
  if (job_.rules.size() > kRulesMax) {
    return ResourceExhausted("the job has {} rules, wanted at most {}", job_.rules.size(), kRulesMax);
  }
  job_rules_.clear();
  for (const std::string& text : job_.rules) {
    if (which != nullptr) *which = job_rules_.size();
    LW_ASSIGN_OR_RETURN(Kept kept, Checked(text));
    const bool apply_alone = kept.rule.sync.empty();
    job_rules_.push_back(std::move(kept));
    if (apply_alone) LW_RETURN_IF_ERROR(CheckApplyAlone());
  }
  return Status::Ok();
}

Status SyncChoices::CheckApplyAlone() const {
  const Kept& newest = job_rules_.back();
  const std::string table = NameThatFits(newest.rule.tables);
  std::set<std::uint32_t> servers{newest.rule.server.value_or(kOtherServer)};
  for (const Kept& kept : job_rules_) {
    if (!newest.rule.server && kept.rule.server) servers.insert(*kept.rule.server);
  }
  for (const std::uint32_t server : servers) {
    SyncChoice choice{job_.sync, job_.apply};
    for (const Kept& kept : job_rules_) choice = Choose(std::span(&kept.rule, 1), choice, table, server);
    if (const Status fits = CheckPair(choice.sync, choice.apply); !fits.ok()) {
      return InvalidArgument(
          "rule \"{}\": {}{}; a table with no model of its own has sync \"{}\" there: name a model that fits "
          "in the rule as well, sync=SPEC apply={}",
          newest.text, server == kOtherServer ? "" : fmt::format("on server {}: ", server), fits.message(),
          choice.sync, choice.apply);
    }
  }
  return Status::Ok();
}

std::vector<std::string> SyncChoices::MeaningNone(std::span<const TableSpec> tables) const {
  std::vector<std::string> texts;
  for (const Kept& kept : job_rules_) {
    const auto means = [&kept](const TableSpec& spec) { return Means(kept.rule, spec); };
    if (std::ranges::none_of(tables, means)) texts.push_back(kept.text);
  }
  return texts;
}

Result<SyncChoices::Kept> SyncChoices::Checked(std::string_view text) const {
  LW_ASSIGN_OR_RETURN(SyncRule rule, ParseSyncRule(text));
  if (rule.server && *rule.server >= job_.servers) {
    return InvalidArgument("rule \"{}\": got server {}, wanted 0 to {} (the job has {})", text, *rule.server,
                           job_.servers - 1, job_.servers);
  }
  if (NamesRelay(rule.apply)) {
    return InvalidArgument(
        "rule \"{}\": no rule sets apply relay, because workers keep the parameters of its tables from their "
        "beginning on: give apply=\"relay\" to the optimizer of these tables, or the job --apply relay",
        text);
  }
  // A rule with an apply mode alone is checked with the model of each table that it means.
  if (!rule.sync.empty()) {
    LW_RETURN_IF_ERROR(CheckPair(rule.sync, rule.apply).WithContext(fmt::format("rule \"{}\"", text)));
  }
  return Kept{std::move(rule), std::string(text)};
}

Result<SyncChoices> SyncChoices::With(std::string_view text) const {
  LW_ASSIGN_OR_RETURN(Kept kept, Checked(text));
  SyncChoices with = *this;
  std::erase_if(with.set_rules_, [&](const Kept& older) { return Covers(kept.rule, older.rule); });
  if (with.set_rules_.size() + with.job_rules_.size() >= kRulesMax) {
    return ResourceExhausted(
        "rule \"{}\": there are {} rules, wanted at most {}; one with the same tables and server as an "
        "earlier one takes "
        "its place",
        text, kRulesMax, kRulesMax);
  }
  with.set_rules_.push_back(std::move(kept));
  return with;
}

bool SyncChoices::Means(const SyncRule& rule, const TableSpec& spec) {
  if (rule.tables == "*") return spec.clock == TableClock::kJob;
  return Fits(rule, spec.name, rule.server.value_or(kOtherServer));
}

bool SyncChoices::NewestMeans(const TableSpec& spec) const {
  return !set_rules_.empty() && Means(set_rules_.back().rule, spec);
}

Result<SyncChoice> SyncChoices::Of(const TableSpec& spec, std::uint32_t server) const {
  SyncChoice choice{spec.sync, spec.apply};
  const Kept* last = nullptr;
  for (const auto* rules : {&job_rules_, &set_rules_}) {
    for (const Kept& kept : *rules) {
      if (!Means(kept.rule, spec)) continue;
      SyncChoice changed = Choose(std::span(&kept.rule, 1), choice, spec.name, server);
      if (changed != choice) last = &kept;
      choice = std::move(changed);
    }
  }
  if (last != nullptr && NamesRelay(spec.apply)) {
    return FailedPrecondition(
        "rule \"{}\" for table \"{}\": its apply mode is {}: workers keep its parameters and step with every "
        "mean, under bsp, so no rule changes it; name other tables in the rule (tables=...)",
        last->text, spec.name, spec.apply);
  }
  if (const Status fits = CheckPair(choice.sync, choice.apply); !fits.ok()) {
    if (last == nullptr) return fits;
    return fits.WithContext(
        fmt::format("rule \"{}\" for {}", last->text,
                    server == kOtherServer ? "all servers" : fmt::format("server {}", server)));
  }
  return choice;
}

Status SyncChoices::CheckPair(const std::string& sync, const std::string& apply) const {
  LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(*models_, sync));
  if (!sound_.contains(sync)) {
    LW_RETURN_IF_ERROR(policy.model->Try());
    if (sound_.size() == kSoundMax) sound_.clear();
    sound_.insert(sync);
  }
  LW_ASSIGN_OR_RETURN(const ApplyMode mode, MakeApplyMode(apply, *policy.model));
  if (mode.relay) LW_RETURN_IF_ERROR(CheckRelayFit(apply, job_, *exchanges_));
  if (const std::uint32_t needed = policy.model->WorkersNeeded(); needed > job_.workers) {
    return InvalidArgument("sync \"{}\" needs {} workers, got a job of {}", sync, needed, job_.workers);
  }
  return CheckWorkerFit(*policy.model, sync, job_.pull, job_.exchange, *exchanges_);
}

Status SyncChoices::Fill(const TableSpec& spec, wire::pb::Table& map) const {
  LW_ASSIGN_OR_RETURN(const SyncChoice most, Of(spec, kOtherServer));
  std::set<std::uint32_t> named;
  for (const auto* rules : {&job_rules_, &set_rules_}) {
    for (const Kept& kept : *rules) {
      if (kept.rule.server && Means(kept.rule, spec)) named.insert(*kept.rule.server);
    }
  }
  google::protobuf::RepeatedPtrField<wire::pb::ServerSync> others;
  for (const std::uint32_t server : named) {
    LW_ASSIGN_OR_RETURN(const SyncChoice choice, Of(spec, server));
    if (choice == most) continue;
    wire::pb::ServerSync& other = *others.Add();
    other.set_server(server);
    other.set_sync(choice.sync);
    other.set_apply(choice.apply);
  }
  map.set_sync(most.sync);
  map.set_apply(most.apply);
  map.mutable_of_servers()->Swap(&others);
  return Status::Ok();
}

std::vector<std::string> SyncChoices::Texts() const {
  std::vector<std::string> texts;
  for (const auto* rules : {&job_rules_, &set_rules_}) {
    for (const Kept& kept : *rules) texts.push_back(kept.text);
  }
  return texts;
}

void SyncChoices::AddTo(wire::pb::LoggedRules& logged) const {
  for (const Kept& kept : job_rules_) logged.add_of_job(kept.text);
  for (const Kept& kept : set_rules_) logged.add_set(kept.text);
}

Status SyncChoices::Take(const wire::pb::LoggedRules& logged) {
  const std::vector<std::string> of_job(logged.of_job().begin(), logged.of_job().end());
  if (of_job != job_.rules) {
    return FailedPrecondition("it is of another job, or this is: rules: got [{}], wanted [{}] as in the log",
                              fmt::join(job_.rules, "; "), fmt::join(of_job, "; "));
  }
  set_rules_.clear();
  if (static_cast<std::size_t>(logged.set_size()) > kRulesMax) {
    return ResourceExhausted("{} rules were set, wanted at most {}", logged.set_size(), kRulesMax);
  }
  for (const std::string& text : logged.set()) {
    LW_ASSIGN_OR_RETURN(Kept kept, Checked(text));
    set_rules_.push_back(std::move(kept));
  }
  return Status::Ok();
}

}  // namespace leeway
