#include "node/scheduler/table_registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"
#include "block/apply_mode.h"
#include "checkpoint/layout.h"
#include "node/scheduler/block_bytes.h"
#include "node/scheduler/sync_choices.h"
#include "node/scheduler/table_check.h"
#include "optimizer/make_optimizer.h"
#include "sync/pull_policy.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

// The block goes on with a new owner, which has nothing of the state that the owner before had.
void SetTerm(wire::pb::Block& block, Term term) {
  block.set_term(term.value());
  block.set_since(term.value());
}

wire::pb::Restore RestoreOf(const ManifestBlock& block, const Manifest& manifest, const std::string& folder) {
  wire::pb::Restore restore;
  restore.set_file(JoinPath(folder, manifest.files[block.file].name));
  restore.set_offset(block.record.offset);
  restore.set_bytes(block.record.bytes);
  restore.set_checksum(block.record.checksum);
  restore.set_v_train(block.record.v_train.value());
  restore.set_term(block.record.term.value());
  return restore;
}

std::string ImmediateText(const ApplyMode& apply) {
  std::string text = "immediate";
  if (apply.scale_by_staleness) text += ":scale=staleness";
  if (apply.dc > 0.0F) {
    text += fmt::format("{}dc={},dc_versions={}", apply.scale_by_staleness ? "," : ":", apply.dc,
                        apply.dc_versions);
  }
  return text;
}

std::string Named(const TableSpec& spec) { return fmt::format("table \"{}\"", spec.name); }

// Fills in the optimizer of a table under relay, and refuses what relay does not have.
Status FitRelay(TableSpec& spec) {
  if (spec.clock == TableClock::kOwn) {
    return InvalidArgument(
        "apply \"{}\": got a table with a clock of its own, wanted one on the job's clock; use apply "
        "aggregate with optimizer mean",
        spec.apply);
  }
  if (spec.optimizer.empty()) spec.optimizer = "mean";
  if (spec.optimizer == "mean") return Status::Ok();
  return InvalidArgument(
      "apply \"{}\" with optimizer \"{}\": servers keep the mean gradient and run no optimizer; leave the "
      "optimizer out and step in the worker, or use apply aggregate",
      spec.apply, spec.optimizer);
}

Status NoTableMeant(const std::string& rule, const std::vector<TableRegistry::Entry>& tables) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> names;
  for (const TableRegistry::Entry& entry : std::span(tables).first(std::min(tables.size(), kNamed))) {
    names.push_back(entry.spec.name);
  }
  return NotFound("rule \"{}\" matches no table of the job; it has {}: {}{}", rule, tables.size(),
                  fmt::join(names, ", "), tables.size() > kNamed ? ", ..." : "");
}

}  // namespace

TableRegistry::TableRegistry(const JobOptions& job, const SchedulerPolicies& policies,
                             std::uint64_t payload_bytes_max)
    : job_(job),
      policies_(policies),
      payload_bytes_max_(payload_bytes_max),
      choices_(job, policies.sync, policies.exchanges) {
  for (std::uint32_t i = 0; i < job.servers * job.shards; ++i) {
    shards_.push_back({ShardId(i), ServerId(i / job.shards)});
  }
}

Status TableRegistry::Check() {
  if (job_.block_bytes % sizeof(float) != 0) {
    return InvalidArgument("block_bytes: got {}, wanted a multiple of {}, or 0 for blocks by need",
                           job_.block_bytes, sizeof(float));
  }
  auto placement = policies_.placements.MakeFromSpec(job_.placement);
  if (!placement.ok()) return placement.status().WithContext("placement of the job");
  placement_ = *std::move(placement);
  LW_RETURN_IF_ERROR(ParsePullPolicy(job_.pull).status().WithContext("pull of the job"));
  LW_RETURN_IF_ERROR(
      policies_.exchanges.MakeFromSpec(job_.exchange).status().WithContext("exchange of the job"));
  TableSpec defaults;
  defaults.sync = job_.sync;
  defaults.apply = job_.apply;
  defaults.optimizer = "sgd";
  LW_RETURN_IF_ERROR(CheckPolicies(defaults).WithContext("sync and apply of the job"));
  return choices_.TakeJobRules();
}

Status TableRegistry::CheckPolicies(const TableSpec& spec) const {
  LW_RETURN_IF_ERROR(choices_.CheckPair(spec.sync, spec.apply));
  return MakeOptimizer(policies_.optimizers, spec.optimizer).status();
}

Result<TableSpec> TableRegistry::Resolve(const wire::pb::Table& table) const {
  LW_ASSIGN_OR_RETURN(TableSpec spec, CheckedSpec(table));
  // The job's apply mode was chosen for the job's sync model: a table with a model of its own takes that
  // one's default.
  if (spec.apply.empty() && spec.sync.empty()) spec.apply = job_.apply;
  if (spec.sync.empty()) spec.sync = job_.sync;
  if (NamesRelay(spec.apply)) LW_RETURN_IF_ERROR(FitRelay(spec));
  if (spec.optimizer.empty()) spec.optimizer = "sgd";
  LW_RETURN_IF_ERROR(CheckPolicies(spec));
  return spec;
}

Result<TableSpec> TableRegistry::Canonical(TableSpec spec) const {
  LW_ASSIGN_OR_RETURN(SyncPolicy sync, MakeSyncPolicy(policies_.sync, spec.sync));
  LW_ASSIGN_OR_RETURN(const ApplyMode apply, MakeApplyMode(spec.apply, *sync.model));
  const bool aggregate = apply.kind == ApplyMode::Kind::kAggregate;
  for (SpecArg& arg : sync.resolved.args) {
    if (arg.key == "late") arg.value = LateOf(sync, aggregate) == Late::kDrop ? "drop" : "apply";
  }
  LW_RETURN_IF_ERROR(
      MakeOptimizer(policies_.optimizers, std::string(spec.optimizer), &spec.optimizer).status());
  spec.sync = PrintSpec({{sync.resolved}});
  const char* const reduce = apply.ordered ? "ordered" : "arrival";
  spec.apply = apply.relay ? fmt::format("relay:reduce={}", reduce)
               : aggregate ? fmt::format("aggregate:reduce={},window={}", reduce, apply.window)
                           : ImmediateText(apply);
  return spec;
}

TableSpec TableRegistry::Short(TableSpec spec) const {
  const Result<TableSpec> meant = Canonical(spec);
  if (!meant.ok()) return spec;
  for (std::string TableSpec::*const part : {&TableSpec::sync, &TableSpec::apply, &TableSpec::optimizer}) {
    spec.*part = ShortSpec(spec.*part, [&](const std::string& text) {
      TableSpec tried = spec;
      tried.*part = text;
      const Result<TableSpec> means = Canonical(std::move(tried));
      return means.ok() && !Difference(*means, *meant);
    });
  }
  return spec;
}

Result<std::optional<std::string>> TableRegistry::Compare(const TableSpec& got,
                                                          const TableSpec& wanted) const {
  // Most definitions are equal word for word.
  if (!Difference(got, wanted)) return std::optional<std::string>();
  LW_ASSIGN_OR_RETURN(const TableSpec canonical_got, Canonical(got));
  LW_ASSIGN_OR_RETURN(const TableSpec canonical_wanted, Canonical(wanted));
  return Difference(canonical_got, canonical_wanted);
}

std::uint64_t TableRegistry::BlockBytes(std::span<const TableSpec> created) const {
  if (job_.block_bytes != 0) return job_.block_bytes;
  std::uint64_t model_bytes = 0;
  for (const Entry& entry : tables_) model_bytes += entry.spec.elements() * sizeof(float);
  for (const TableSpec& spec : created) model_bytes += spec.elements() * sizeof(float);
  return std::min(BlockBytesByNeed(model_bytes, shards_.size()), payload_bytes_max_);
}

Result<std::uint64_t> TableRegistry::BlockElements(const TableSpec& spec, std::uint64_t block_bytes) const {
  LW_ASSIGN_OR_RETURN(const OptimizerPtr optimizer, MakeOptimizer(policies_.optimizers, spec.optimizer));
  if (!optimizer->whole_table()) return block_bytes / sizeof(float);
  const std::uint64_t elements_max = payload_bytes_max_ / sizeof(float);
  if (spec.elements() > elements_max) {
    return ResourceExhausted(
        "shape [{}]: got {} values, wanted at most {} ({} bytes, what a frame can carry): optimizer \"{}\" "
        "needs "
        "the whole table in one block; split the layer, or take an optimizer that does not",
        fmt::join(spec.shape, ", "), spec.elements(), elements_max, payload_bytes_max_, spec.optimizer);
  }
  return spec.elements();
}

Result<TableRegistry::Defined> TableRegistry::Define(const wire::pb::DefineTables& request, Epoch next) {
  Defined defined;
  std::vector<TableSpec> created;
  std::map<std::string, TableId> created_ids;
  for (const wire::pb::Table& table : request.tables()) {
    Result<TableSpec> resolved = Resolve(table);
    if (!resolved.ok()) return resolved.status().WithContext(fmt::format("table \"{}\"", table.name()));
    const TableSpec* wanted = nullptr;
    TableId id;
    if (const auto known = by_name_.find(table.name()); known != by_name_.end()) {
      id = known->second;
      wanted = &tables_[id.index()].spec;
      defined.epoch = std::max(defined.epoch, tables_[id.index()].created);
    } else if (const auto again = created_ids.find(table.name()); again != created_ids.end()) {
      id = again->second;
      wanted = &created[id.index() - tables_.size()];
    } else {
      id = TableId(static_cast<std::uint32_t>(tables_.size() + created.size()));
      created_ids[table.name()] = id;
      created.push_back(*resolved);
      defined.created.push_back(id);
      defined.epoch = next;
    }
    if (wanted != nullptr) {
      LW_ASSIGN_OR_RETURN(const std::optional<std::string> differs, Compare(*resolved, *wanted));
      if (differs) {
        if (id.index() < tables_.size() && tables_[id.index()].of_checkpoint) {
          return AlreadyExists(
              "table \"{}\" differs from the one in the checkpoint: {}; resume with the options of the job "
              "that "
              "wrote the checkpoint, and change the sync model by a rule (--rule sync=SPEC)",
              table.name(), *differs);
        }
        return AlreadyExists("table \"{}\" is defined already, and differently: {}", table.name(), *differs);
      }
    }
    defined.asked.push_back(id);
  }
  if (tables_.size() + created.size() > kTablesMax) {
    return ResourceExhausted("{} tables, wanted at most {}", tables_.size() + created.size(), kTablesMax);
  }
  LW_ASSIGN_OR_RETURN(std::vector<Entry> entries, Cut(std::move(created), next));
  for (Entry& entry : entries) {
    by_name_[entry.spec.name] = TableId(entry.map.id());
    changed_.insert(TableId(entry.map.id()));
    blocks_ += static_cast<std::uint64_t>(entry.map.blocks_size());
    tables_.push_back(std::move(entry));
  }
  return defined;
}

bool TableRegistry::Creates(const wire::pb::DefineTables& request) const {
  return std::ranges::any_of(
      request.tables(), [this](const wire::pb::Table& table) { return !by_name_.contains(table.name()); });
}

void TableRegistry::Withdraw(std::size_t kept) {
  if (kept >= tables_.size()) return;
  withdrawn_ = std::min(kept, withdrawn_.value_or(kept));
  for (std::size_t i = kept; i < tables_.size(); ++i) {
    by_name_.erase(tables_[i].spec.name);
    changed_.erase(TableId(static_cast<std::uint32_t>(i)));
  }
  tables_.resize(kept);
  blocks_ = 0;
  for (const Entry& entry : tables_) {
    for (const wire::pb::Block& block : entry.map.blocks())
      blocks_ = std::max<std::uint64_t>(blocks_, block.block() + 1);
  }
}

Result<std::vector<TableRegistry::Entry>> TableRegistry::Cut(std::vector<TableSpec> specs,
                                                             Epoch created) const {
  const std::uint64_t block_bytes = BlockBytes(specs);
  std::vector<std::uint64_t> block_elements;  // by table
  std::uint64_t blocks = blocks_;
  for (const TableSpec& spec : specs) {
    const Result<std::uint64_t> per_block = BlockElements(spec, block_bytes);
    if (!per_block.ok()) return per_block.status().WithContext(Named(spec));
    block_elements.push_back(*per_block);
    blocks += (spec.elements() + *per_block - 1) / *per_block;
  }
  if (blocks > kBlocksMax) {
    return ResourceExhausted(
        "the tables would have {} blocks, wanted at most {}: take a larger block_bytes (now {})", blocks,
        kBlocksMax, block_bytes);
  }
  std::vector<Entry> entries;
  std::uint64_t next = blocks_;
  for (TableSpec& spec : specs) {
    Entry& entry = entries.emplace_back();
    const TableId id(static_cast<std::uint32_t>(tables_.size() + entries.size() - 1));
    FillTable(spec, entry.map);
    LW_RETURN_IF_ERROR(choices_.Fill(spec, entry.map).WithContext(Named(spec)));
    entry.map.set_id(id.value());
    entry.created = created;
    const std::uint64_t per_block = block_elements[entries.size() - 1];
    const std::uint64_t elements = spec.elements();
    for (std::uint64_t offset = 0; offset < elements; offset += per_block) {
      wire::pb::Block& block = *entry.map.add_blocks();
      block.set_block(static_cast<std::uint32_t>(next++));
      block.set_offset(offset);
      block.set_elements(std::min(per_block, elements - offset));
      SetTerm(block, Term(1));
    }
    entry.spec = std::move(spec);
  }
  LW_RETURN_IF_ERROR(Place(entries));
  return entries;
}

std::vector<PlacedShard> TableRegistry::LoadedShards() const {
  std::vector<PlacedShard> shards = shards_;
  for (const Entry& entry : tables_) {
    for (const wire::pb::Block& block : entry.map.blocks()) {
      ++shards[block.shard()].blocks;
      shards[block.shard()].bytes += block.elements() * sizeof(float);
    }
  }
  return shards;
}

Status TableRegistry::Place(std::vector<Entry>& entries) const {
  std::vector<PlacedBlock> blocks;
  for (const Entry& entry : entries) {
    for (const wire::pb::Block& block : entry.map.blocks()) {
      blocks.push_back({BlockId(block.block()), TableId(entry.map.id()), block.elements() * sizeof(float)});
    }
  }
  const std::vector<ShardId> placed = placement_->Place(blocks, LoadedShards());
  // A placement may be a user's own.
  if (placed.size() != blocks.size()) {
    return Internal("placement \"{}\" placed {} blocks, wanted {}", job_.placement, placed.size(),
                    blocks.size());
  }
  std::size_t at = 0;
  for (Entry& entry : entries) {
    for (wire::pb::Block& block : *entry.map.mutable_blocks()) {
      const ShardId shard = placed[at++];
      if (shard.index() >= shards_.size()) {
        return Internal("placement \"{}\" put block {} on shard {}, wanted below {}", job_.placement,
                        block.block(), shard.value(), shards_.size());
      }
      block.set_shard(shard.value());
    }
  }
  return Status::Ok();
}

Status TableRegistry::Resume(const Manifest& manifest, const std::string& folder, Iteration start,
                             Epoch created) {
  std::vector<Entry> entries;
  std::map<std::array<std::string, 3>, TableSpec> shorts;  // tables share their specs
  for (const ManifestTable& table : manifest.tables) {
    Entry& entry = entries.emplace_back();
    TableSpec& spec = entry.spec;
    spec = table.spec;
    entry.created = created;
    entry.of_checkpoint = true;
    LW_RETURN_IF_ERROR(CheckPolicies(spec).WithContext(Named(spec)));
    const auto [found, is_new] = shorts.try_emplace({spec.sync, spec.apply, spec.optimizer}, spec);
    TableSpec& written = found->second;
    if (is_new) written = Short(std::move(written));
    spec.sync = written.sync;
    spec.apply = written.apply;
    spec.optimizer = written.optimizer;
    FillTable(spec, entry.map);
    LW_RETURN_IF_ERROR(choices_.Fill(spec, entry.map).WithContext(Named(spec)));
    entry.map.set_id(table.id.value());
    Iteration begins = start;
    if (table.spec.clock == TableClock::kOwn) {
      begins = Iteration(0);
      for (const ManifestBlock& block : table.blocks) begins = std::max(begins, block.record.v_train);
      entry.map.set_first(begins.value());
    }
    for (const ManifestBlock& from : table.blocks) {
      wire::pb::Block& block = *entry.map.add_blocks();
      block.set_block(from.record.block.value());
      block.set_offset(from.offset);
      block.set_elements(from.elements);
      SetTerm(block, from.record.term + 1);  // frames of the run before are of a lower one
      *block.mutable_restore() = RestoreOf(from, manifest, folder);
      block.mutable_restore()->set_start(begins.value());
      block.mutable_restore()->set_rebase(true);
      block.mutable_restore()->set_keep(!manifest.exact && table.spec.clock == TableClock::kJob);
      blocks_ = std::max<std::uint64_t>(blocks_, block.block() + 1);
    }
    by_name_[entry.spec.name] = table.id;
    changed_.insert(table.id);
  }
  LW_RETURN_IF_ERROR(Place(entries));
  tables_ = std::move(entries);
  return Status::Ok();
}

Result<std::size_t> TableRegistry::Patch(ShardId shard, const Manifest& manifest, const std::string& folder,
                                         bool of_this_run) {
  std::map<std::uint32_t, const ManifestBlock*> saved;
  for (const ManifestTable& table : manifest.tables) {
    for (const ManifestBlock& block : table.blocks) saved[block.record.block.value()] = &block;
  }
  std::vector<std::pair<wire::pb::Block*, const ManifestBlock*>> patches;
  std::set<TableId> changed;
  for (Entry& entry : tables_) {
    for (wire::pb::Block& block : *entry.map.mutable_blocks()) {
      if (ShardId(block.shard()) != shard) continue;
      if (NamesRelay(entry.map.apply())) {
        return Unavailable(
            "table \"{}\" has apply {}: every rank has stepped with means since the checkpoint, and nothing "
            "takes that back in running scripts; start the job with --on-server-loss rollback, or resume it",
            entry.spec.name, entry.map.apply());
      }
      const auto found = saved.find(block.block());
      if (found == saved.end()) {
        return Unavailable("table \"{}\" was made after checkpoint {}, and is not in it", entry.spec.name,
                           manifest.checkpoint);
      }
      patches.emplace_back(&block, found->second);
      changed.insert(TableId(entry.map.id()));
    }
  }
  changed_.merge(changed);
  for (const auto& [block, from] : patches) {
    // Frames to the owner before are of a lower term.
    if (!LW_MUTATED(term_not_raised)) SetTerm(*block, Term(block->term()) + 1);
    // Of an earlier run: the block begins as it did when this run began.
    if (of_this_run) *block->mutable_restore() = RestoreOf(*from, manifest, folder);
    block->mutable_restore()->set_patch(true);
  }
  return patches.size();
}

std::size_t TableRegistry::Empty(ShardId shard) {
  std::size_t blocks = 0;
  for (Entry& entry : tables_) {
    for (wire::pb::Block& block : *entry.map.mutable_blocks()) {
      if (ShardId(block.shard()) != shard) continue;
      SetTerm(block, Term(block.term()) + 1);
      block.set_emptied(block.term());
      changed_.insert(TableId(entry.map.id()));
      ++blocks;
    }
  }
  return blocks;
}

std::optional<ShardId> TableRegistry::FindEmptied(
    const google::protobuf::RepeatedPtrField<wire::pb::SeenBlock>& seen) const {
  if (seen.empty()) return std::nullopt;
  std::map<std::uint32_t, std::uint32_t> terms;
  for (const wire::pb::SeenBlock& block : seen) terms[block.block()] = block.term();
  for (const Entry& entry : tables_) {
    for (const wire::pb::Block& block : entry.map.blocks()) {
      if (block.emptied() == 0) continue;
      const auto found = terms.find(block.block());
      if (found != terms.end() && found->second < block.emptied()) return ShardId(block.shard());
    }
  }
  return std::nullopt;
}

Result<TableRegistry::Switched> TableRegistry::Switch(const std::string& rule) { return Follow(rule, true); }

Status TableRegistry::TakeUp(const std::string& rule) { return Follow(rule, false).status(); }

std::vector<std::string> TableRegistry::RulesMeaningNone() const {
  std::vector<TableSpec> specs;
  for (const Entry& entry : tables_) specs.push_back(entry.spec);
  return choices_.MeaningNone(specs);
}

Result<TableRegistry::Switched> TableRegistry::Follow(const std::string& rule, bool must_mean) {
  LW_ASSIGN_OR_RETURN(SyncChoices choices, choices_.With(rule));
  Switched switched;
  std::vector<wire::pb::Table> maps;
  for (const Entry& entry : tables_) {
    const TableId id(entry.map.id());
    if (!choices.NewestMeans(entry.spec)) continue;
    switched.meant.push_back(id);
    wire::pb::Table map = entry.map;
    LW_RETURN_IF_ERROR(choices.Fill(entry.spec, map).WithContext(Named(entry.spec)));
    if (map.SerializeAsString() == entry.map.SerializeAsString()) continue;
    switched.changed.push_back(id);
    maps.push_back(std::move(map));
  }
  if (must_mean && switched.meant.empty()) return NoTableMeant(rule, tables_);
  for (std::size_t i = 0; i < maps.size(); ++i) tables_[switched.changed[i].index()].map = std::move(maps[i]);
  choices_ = std::move(choices);
  switched_ = rules_changed_ = true;
  return switched;
}

void TableRegistry::AddTo(wire::pb::TableMap& map, std::span<const TableId> ids) const {
  for (const TableId id : ids) {
    wire::pb::Table& table = *map.add_tables();
    table = tables_[id.index()].map;
    // Where blocks begin is for their owners alone.
    for (wire::pb::Block& block : *table.mutable_blocks()) block.clear_restore();
  }
}

void TableRegistry::AddAllForWorkers(wire::pb::TableMap& map) const {
  for (std::uint32_t id = 0; id < tables_.size(); ++id) AddTo(map, std::array{TableId(id)});
}

void TableRegistry::AddAllTo(wire::pb::TableMap& map) const {
  for (const Entry& entry : tables_) *map.add_tables() = entry.map;
}

}  // namespace leeway
