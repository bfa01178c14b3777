// SyncChoices: the synchronization of every table on every server. A table's own spec or the job's comes
// first, then the rules in their order: the job's rules, then rules that were set while it runs. The last one
// that fits counts.
//
// A rule that names no tables means all tables that follow the job's clock. It does not mean a table with a
// clock of its own (push_pull, ps-lite's way). Pure decisions; TableRegistry keeps them with its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "leeway/exchange.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"
#include "leeway/table.h"
#include "sync/sync_rules.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class SyncChoices {
 public:
  static constexpr std::size_t kRulesMax = 256;

  // Borrows the registries for its life.
  SyncChoices(const JobOptions& job, const Registry<SyncModel>& models,
              const Registry<ExchangePolicy>& exchanges);

  // Takes the job's rules. The specs of each rule must be known, and fit each other and the job. A rule with
  // an apply mode alone must fit the model that a table without a model of its own has by then, on every
  // server that the rule means. `which` gets the index of the rule that an error is about.
  [[nodiscard]] Status TakeJobRules(std::size_t* which = nullptr);

  // A copy with one more rule, without the rules that it makes superfluous.
  [[nodiscard]] Result<SyncChoices> With(std::string_view rule) const;

  // Sets sync, apply and of_servers of `map` for a table with this spec (the job's defaults filled in). An
  // error names the rule and the server, and changes nothing.
  [[nodiscard]] Status Fill(const TableSpec& spec, wire::pb::Table& map) const;
  // The job's rules that mean none of these tables.
  [[nodiscard]] std::vector<std::string> MeaningNone(std::span<const TableSpec> tables) const;
  // Whether the newest rule fits this table at all.
  [[nodiscard]] bool NewestMeans(const TableSpec& spec) const;

  // A sync model and an apply mode that this build has, that fit each other, and that a job of so many
  // workers can have.
  [[nodiscard]] Status CheckPair(const std::string& sync, const std::string& apply) const;

  // For people: the rules in their order.
  [[nodiscard]] std::vector<std::string> Texts() const;

  // The log: adds the rules, and takes them back. An error for rules of another job.
  void AddTo(wire::pb::LoggedRules& logged) const;
  [[nodiscard]] Status Take(const wire::pb::LoggedRules& logged);

 private:
  struct Kept {
    SyncRule rule;
    std::string text;  // as it was given
  };
  [[nodiscard]] Result<Kept> Checked(std::string_view rule) const;
  // The newest of the job's rules, one with an apply mode alone.
  [[nodiscard]] Status CheckApplyAlone() const;
  [[nodiscard]] static bool Means(const SyncRule& rule, const TableSpec& spec);
  // Of the blocks on one server, checked.
  [[nodiscard]] Result<SyncChoice> Of(const TableSpec& spec, std::uint32_t server) const;

  JobOptions job_;
  // Not null; pointers, since choices are assigned.
  const Registry<SyncModel>* models_;
  const Registry<ExchangePolicy>* exchanges_;
  // Specs that were tried and are sound, a few: one that means many tables is tried once.
  mutable std::set<std::string> sound_;
  std::vector<Kept> job_rules_;
  std::vector<Kept> set_rules_;  // while the job runs
};

}  // namespace leeway
