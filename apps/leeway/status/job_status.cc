#include "status/job_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/printable.h"

namespace leeway::app {
namespace {

constexpr std::size_t kTextBytesMax = 4096;  // as long as a path may be

// value() throws when a field has another type than asked for; a field of a wrong type counts as absent.
template <typename T>
T Get(const nlohmann::json& object, const char* key, T absent) {
  const auto found = object.find(key);
  if (found == object.end()) return absent;
  if constexpr (std::is_same_v<T, std::string>) {
    // Names and texts of the job's nodes are on their way to a terminal.
    return found->is_string() ? Printable(found->get<std::string>(), kTextBytesMax) : absent;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->get<bool>() : absent;
  } else {
    return found->is_number() ? found->get<T>() : absent;
  }
}

Figures GetFigures(const nlohmann::json& object) {
  Figures figures;
  const auto found = object.find("figures");
  if (found == object.end() || !found->is_object()) return figures;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number()) figures[name] = value.get<double>();
  }
  return figures;
}

template <typename Make>
void ForEach(const nlohmann::json& object, const char* key, Make make) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return;
  for (const nlohmann::json& entry : *found) {
    if (entry.is_object()) make(entry);
  }
}

std::vector<std::uint32_t> GetRanks(const nlohmann::json& object, const char* key) {
  std::vector<std::uint32_t> ranks;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return ranks;
  for (const nlohmann::json& rank : *found) {
    if (rank.is_number_unsigned()) ranks.push_back(rank.get<std::uint32_t>());
  }
  return ranks;
}

WorkerNow GetNow(const nlohmann::json& worker) {
  WorkerNow now;
  const auto found = worker.find("now");
  if (found == worker.end() || !found->is_object()) return now;
  now.computing_s = Get(*found, "computing_s", 0.0);
  now.waiting_s = Get(*found, "waiting_s", 0.0);
  now.waits_on = Get<std::string>(*found, "waits_on", "");
  now.name = Get<std::string>(*found, "name", "");
  if (found->contains("server")) now.server = Get(*found, "server", 0U);
  now.ranks = GetRanks(*found, "ranks");
  return now;
}

WorkerStatus GetWorker(const nlohmann::json& w) {
  return {Get(w, "rank", 0U),
          Get(w, "incarnation", std::uint64_t{0}),
          Get<std::string>(w, "state", ""),
          Get(w, "iteration", std::int64_t{-1}),
          GetFigures(w),
          Get<std::string>(w, "waiting_for", ""),
          Get(w, "silent_s", 0.0),
          Get(w, "report_age_s", 0.0),
          GetNow(w),
          Get<std::string>(w, "host", ""),
          Get(w, "pid", std::uint64_t{0})};
}

ShardStatus GetShard(const nlohmann::json& s) {
  return {Get(s, "shard", 0U),
          Get(s, "server", 0U),
          GetFigures(s),
          Get<std::string>(s, "state", ""),
          Get<std::string>(s, "waiting_for", ""),
          Get(s, "report_age_s", 0.0)};
}

TableOnServer GetTableOnServer(const nlohmann::json& row) {
  return {.server = Get(row, "server", 0U),
          .sync = Get<std::string>(row, "sync", ""),
          .apply = Get<std::string>(row, "apply", ""),
          .v_train = Get(row, "v_train", std::int64_t{0}),
          .v_train_max = Get(row, "v_train_max", std::int64_t{0}),
          .fastest = Get(row, "fastest", std::int64_t{-1}),
          .slowest = Get(row, "slowest", std::int64_t{-1}),
          .waiting = Get(row, "waiting", std::uint64_t{0}),
          .dpr = Get(row, "dpr", std::uint64_t{0}),
          .waited_s = Get(row, "waited_s", 0.0),
          .waiting_for = Get<std::string>(row, "waiting_for", ""),
          .missing = GetRanks(row, "missing"),
          .tables = Get(row, "tables", std::uint64_t{1})};
}

CheckpointsStatus GetCheckpoints(const nlohmann::json& root) {
  CheckpointsStatus status;
  const auto found = root.find("checkpoints");
  if (found == root.end() || !found->is_object()) return status;
  status.folder = Get<std::string>(*found, "folder", "");
  status.resumed_from = Get<std::string>(*found, "resumed_from", "");
  status.completed = Get(*found, "completed", std::uint64_t{0});
  status.given_up = Get(*found, "given_up", std::uint64_t{0});
  status.last_failure = Get<std::string>(*found, "last_failure", "");
  const auto last = found->find("last");
  if (last == found->end() || !last->is_object()) return status;
  status.last = Get(*last, "checkpoint", std::uint64_t{0});
  status.last_iteration = Get(*last, "iteration", std::int64_t{-1});
  status.last_folder = Get<std::string>(*last, "folder", "");
  status.last_age_s = Get(*last, "age_s", 0.0);
  return status;
}

template <typename Nodes>
Figures SumsBy(const std::string& prefix, const Nodes& nodes) {
  Figures sums;
  for (const auto& node : nodes) {
    for (auto at = node.figures.lower_bound(prefix);
         at != node.figures.end() && at->first.starts_with(prefix); ++at) {
      sums[at->first.substr(prefix.size())] += at->second;
    }
  }
  return sums;
}

}  // namespace

double Figure(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  return found == figures.end() ? 0.0 : found->second;
}

double JobStatus::OfWorkers(const std::string& figure) const {
  double sum = 0;
  for (const WorkerStatus& worker : workers) sum += Figure(worker.figures, figure);
  return sum;
}

double JobStatus::OfShards(const std::string& figure) const {
  double sum = 0;
  for (const ShardStatus& shard : shards) sum += Figure(shard.figures, figure);
  return sum;
}

std::int64_t StepsOf(const WorkerStatus& worker) {
  const auto steps = worker.figures.find("steps");
  if (steps != worker.figures.end()) return static_cast<std::int64_t>(steps->second);
  return std::max<std::int64_t>(worker.iteration, 0);
}

Figures JobStatus::OfWorkersBy(const std::string& prefix) const { return SumsBy(prefix, workers); }

Figures JobStatus::OfShardsBy(const std::string& prefix) const { return SumsBy(prefix, shards); }

const WorkerStatus* JobStatus::FindWorker(std::uint32_t rank) const {
  const auto found = std::ranges::find(workers, rank, &WorkerStatus::rank);
  return found == workers.end() ? nullptr : &*found;
}

double JobStatus::SamplesPerSecond() const { return training_s > 0 ? OfWorkers("samples") / training_s : 0; }

std::optional<double> JobStatus::ShareDone() const {
  std::uint64_t batches = 0;
  std::uint64_t done = 0;
  for (const PoolStatus& pool : pools) {
    batches += pool.batches;
    done += pool.done;
  }
  if (batches == 0) return std::nullopt;
  return static_cast<double>(done) / static_cast<double>(batches);
}

Result<JobStatus> ParseJobStatus(std::string_view text) {
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return InvalidArgument("the job's status is no JSON object ({} bytes)", text.size());
  JobStatus status;
  status.job = Get<std::string>(root, "job", "");
  status.phase = Get<std::string>(root, "phase", "");
  status.uptime_s = Get(root, "uptime_s", 0.0);
  if (root.contains("gathered_after_s")) status.gathered_after_s = Get(root, "gathered_after_s", 0.0);
  if (root.contains("took_over_s")) status.took_over_s = Get(root, "took_over_s", 0.0);
  if (const auto wanted = root.find("wanted"); wanted != root.end() && wanted->is_object()) {
    status.workers_wanted = Get(*wanted, "workers", 0U);
    status.servers_wanted = Get(*wanted, "servers", 0U);
  }
  status.training_s = Get(root, "training_s", 0.0);
  status.served = Get(root, "served", false);
  status.checkpoints = GetCheckpoints(root);
  if (const auto lacking = root.find("lacking"); lacking != root.end() && lacking->is_object()) {
    status.lacking_lost = Get(*lacking, "lost", std::uint64_t{0});
    status.lacking_torn = Get(*lacking, "torn", std::uint64_t{0});
  }
  ForEach(root, "workers", [&](const nlohmann::json& w) { status.workers.push_back(GetWorker(w)); });
  ForEach(root, "shards", [&](const nlohmann::json& s) { status.shards.push_back(GetShard(s)); });
  ForEach(root, "tables", [&](const nlohmann::json& t) {
    status.tables.push_back({Get<std::string>(t, "name", ""),
                             Get<std::string>(t, "sync", ""),
                             Get<std::string>(t, "apply", ""),
                             Get<std::string>(t, "optimizer", ""),
                             Get(t, "elements", std::uint64_t{0}),
                             Get(t, "blocks", std::uint64_t{0}),
                             {},
                             Get<std::string>(t, "clock", "") == "own"});
    ForEach(t, "servers", [&](const nlohmann::json& row) {
      status.tables.back().servers.push_back(GetTableOnServer(row));
    });
  });
  ForEach(root, "more_tables",
          [&](const nlohmann::json& row) { status.more_tables.push_back(GetTableOnServer(row)); });
  if (const auto rules = root.find("rules"); rules != root.end() && rules->is_array()) {
    for (const nlohmann::json& rule : *rules) {
      if (rule.is_string()) status.rules.push_back(Printable(rule.get<std::string>(), kTextBytesMax));
    }
  }
  ForEach(root, "pools", [&](const nlohmann::json& p) {
    status.pools.push_back({Get<std::string>(p, "name", ""), Get(p, "batches", std::uint64_t{0}),
                            Get(p, "done", std::uint64_t{0})});
  });
  return status;
}

}  // namespace leeway::app
