// TableRegistry: the tables of the job. The first definition of a name creates it: checked, cut into blocks,
// placed.
//
// A definition that is the same as the first is answered like it; one that differs is an error and changes
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/placement.h"
#include "leeway/status.h"
#include "leeway/table.h"
#include "node/scheduler/scheduler_policies.h"
#include "node/scheduler/sync_choices.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class TableRegistry {
 public:
  static constexpr std::size_t kTablesMax = 65'536;
  static constexpr std::size_t kNameBytesMax = 256;
  // A map of this many blocks fits a control frame (16 MiB) with room to spare.
  static constexpr std::uint64_t kBlocksMax = 1U << 19;
  static constexpr std::uint64_t kElementsMax = 1ULL << 40;

  // Borrows the policies for its life. No block is larger than `payload_bytes_max`, what a frame can carry.
  // Call Check before anything else.
  TableRegistry(const JobOptions& job, const SchedulerPolicies& policies,
                std::uint64_t payload_bytes_max = LinkOptions().payload_bytes_max);

  // Checks the job's options for tables, and makes its placement.
  [[nodiscard]] Status Check();

  struct Defined {
    std::vector<TableId> asked;    // in the order of the request
    std::vector<TableId> created;  // by this request; empty if all were known
    Epoch epoch;                   // the epoch that created the last of `asked`
  };
  // `next` is the epoch of this change, should it be one. An error in one table refuses all.
  [[nodiscard]] Result<Defined> Define(const wire::pb::DefineTables& request, Epoch next);

  // The tables of a checkpoint, placed on the shards of this job; their blocks are restored from files in
  // `folder`. Blocks of the job's clock begin in iteration `start`, those with a clock of their own where
  // their table was. REQUIRES: no table is here.
  [[nodiscard]] Status Resume(const Manifest& manifest, const std::string& folder, Iteration start,
                              Epoch created);
  // The owner of a shard is another process: the terms of its blocks rise, and they begin with their records
  // in this checkpoint, which this run wrote or began from. Returns how many they are; an error (a table that
  // is not in it) changes nothing.
  [[nodiscard]] Result<std::size_t> Patch(ShardId shard, const Manifest& manifest, const std::string& folder,
                                          bool of_this_run);
  // The same where there is no checkpoint: they begin without values. REQUIRES: the job began without one.
  std::size_t Empty(ShardId shard);
  // A shard that began without values, though some of these blocks had values under an earlier owner; nothing
  // if no shard did.
  [[nodiscard]] std::optional<ShardId> FindEmptied(
      const google::protobuf::RepeatedPtrField<wire::pb::SeenBlock>& seen) const;
  // The table in canonical form, as a manifest keeps it: two tables that mean the same are equal.
  [[nodiscard]] Result<TableSpec> CanonicalSpec(TableId id) const {
    return Canonical(tables_[id.index()].spec);
  }

  // Whether this request would make a table.
  [[nodiscard]] bool Creates(const wire::pb::DefineTables& request) const;
  // Takes back all tables from this id on. REQUIRES: nobody but the shards has heard of them.
  void Withdraw(std::size_t kept);

  struct Entry {
    TableSpec
        spec;  // as defined, with the job's defaults filled in: what later definitions are compared with
    wire::pb::Table map;  // with its blocks, and sync and apply as the rules say
    Epoch created;
    bool of_checkpoint = false;  // defined by the checkpoint that the job began from
  };
  [[nodiscard]] const std::vector<Entry>& all() const { return tables_; }

  struct Switched {
    std::vector<TableId> meant;    // by the rule
    std::vector<TableId> changed;  // have other synchronization now, on some server
  };
  // Adds a rule for present and future tables. An error changes nothing; a rule that means no present table
  // is an error.
  [[nodiscard]] Result<Switched> Switch(const std::string& rule);
  // Adds a rule at the beginning that was in force when a checkpoint was written. It may mean future tables.
  [[nodiscard]] Status TakeUp(const std::string& rule);
  // The job's own rules that mean no table.
  [[nodiscard]] std::vector<std::string> RulesMeaningNone() const;
  // A rule was set while the job runs.
  [[nodiscard]] bool switched() const { return switched_; }
  [[nodiscard]] std::vector<std::string> Rules() const { return choices_.Texts(); }
  // For workers.
  void AddTo(wire::pb::TableMap& map, std::span<const TableId> ids) const;
  void AddAllForWorkers(wire::pb::TableMap& map) const;
  // For the owners.
  void AddAllTo(wire::pb::TableMap& map) const;

  // The log (table_registry_log.cc). AddChanges adds the tables that were made or changed since the last
  // call, and the rules if one was set, and says whether there are any. Apply puts records into a new object.
  // Every change of a table is noted in changed_.
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  [[nodiscard]] Status Apply(const wire::pb::LogRecord& record);

 private:
  [[nodiscard]] Result<TableSpec> Resolve(const wire::pb::Table& table) const;
  [[nodiscard]] Status CheckPolicies(const TableSpec& spec) const;
  // The same table with its specs in canonical form: two tables that mean the same are equal. REQUIRES:
  // resolved.
  [[nodiscard]] Result<TableSpec> Canonical(TableSpec spec) const;
  // The same table with its specs as a user would write them. Everybody reads these in statuses and logs.
  [[nodiscard]] TableSpec Short(TableSpec spec) const;
  // The difference between two resolved definitions of one table.
  [[nodiscard]] Result<std::optional<std::string>> Compare(const TableSpec& got,
                                                           const TableSpec& wanted) const;
  // The largest block of tables that are created now: as the job says, or by need. By need the model is all
  // tables so far, since nobody knows whether more tables follow.
  [[nodiscard]] std::uint64_t BlockBytes(std::span<const TableSpec> created) const;
  // The values of every block of the table but for the last: as many as fit block_bytes, or all of them if
  // the optimizer needs the whole table.
  [[nodiscard]] Result<std::uint64_t> BlockElements(const TableSpec& spec, std::uint64_t block_bytes) const;
  // The job's shards with the blocks of the tables that are here.
  [[nodiscard]] std::vector<PlacedShard> LoadedShards() const;
  // Gives each block of new tables its shard, on top of the load that is there.
  [[nodiscard]] Status Place(std::vector<Entry>& entries) const;
  // Cuts and places new tables; their ids follow the ones that are here.
  [[nodiscard]] Result<std::vector<Entry>> Cut(std::vector<TableSpec> specs, Epoch created) const;
  // All tables with one more rule; nothing has changed yet on an error.
  [[nodiscard]] Result<Switched> Follow(const std::string& rule, bool must_mean);
  [[nodiscard]] Status Apply(const wire::pb::LoggedTable& table);
  [[nodiscard]] Status Apply(const wire::pb::LoggedRules& rules);
  [[nodiscard]] wire::pb::LoggedTable Logged(const Entry& entry) const;

  const JobOptions job_;
  const SchedulerPolicies policies_;
  const std::uint64_t payload_bytes_max_;
  PlacementPtr placement_;
  std::vector<PlacedShard> shards_;
  std::vector<Entry> tables_;  // by id
  std::map<std::string, TableId> by_name_;
  std::uint64_t blocks_ = 0;
  std::set<TableId> changed_;             // since the last AddChanges
  std::optional<std::size_t> withdrawn_;  // the lowest `kept` since the last AddChanges
  SyncChoices choices_;
  bool switched_ = false;
  bool rules_changed_ = false;  // since the last AddChanges
};

}  // namespace leeway
