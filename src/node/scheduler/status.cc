#include "node/scheduler/status.h"

#include <nlohmann/json.hpp>

#include "node/seconds.h"

namespace leeway {
namespace {

using nlohmann::json;

template <typename Key>
NodeReport ReportOf(const std::map<Key, NodeReport>& reports, Key key) {
  const auto found = reports.find(key);
  return found == reports.end() ? NodeReport{} : found->second;
}

json Workers(const JobStatus& status) {
  json workers = json::array();
  for (const WorkerSeat& seat : status.members.workers()) {
    if (seat.state == WorkerState::kAwaited) continue;
    const NodeReport report = ReportOf(status.reports.workers, seat.rank);
    workers.push_back({{"rank", seat.rank.value()},
                       {"incarnation", seat.incarnation.value()},
                       {"state", WorkerStateName(seat.state)},
                       {"iteration", report.iteration.value()},
                       {"waiting_for", report.waiting_for},
                       {"host", seat.host},
                       {"pid", seat.pid},
                       {"silent_s", Seconds(status.now - seat.last_heard)},
                       {"figures", report.figures}});
  }
  return workers;
}

const char* ShardState(const ShardSeat& seat) {
  if (seat.awaited) return "lost";
  return seat.connection != ConnectionId{} ? "up" : "down";
}

json Shards(const JobStatus& status) {
  json shards = json::array();
  for (const ShardSeat& seat : status.members.shards()) {
    const NodeReport report = ReportOf(status.reports.shards, seat.id);
    shards.push_back({{"shard", seat.id.value()},
                      {"server", seat.server.value()},
                      {"address", seat.address},
                      {"state", ShardState(seat)},
                      {"waiting_for", report.waiting_for},
                      {"figures", report.figures}});
  }
  return shards;
}

json Tables(const JobStatus& status) {
  json tables = json::array();
  for (const TableRegistry::Entry& entry : status.tables.all()) {
    tables.push_back({{"name", entry.spec.name},
                      {"elements", entry.spec.elements()},
                      {"blocks", entry.map.blocks_size()},
                      {"sync", entry.spec.sync},
                      {"apply", entry.spec.apply},
                      {"optimizer", entry.spec.optimizer}});
  }
  return tables;
}

json Pools(const JobStatus& status) {
  json pools = json::array();
  for (const auto& [name, pool] : status.pools.all()) {
    pools.push_back(
        {{"name", name}, {"batches", pool.batches}, {"leased", pool.leased.size()}, {"done", pool.done}});
  }
  return pools;
}

json CheckpointState(const JobStatus& status) {
  const Checkpoints& checkpoints = status.checkpoints;
  json state = {
      {"folder", status.checkpoint_options.folder}, {"resumed_from", status.checkpoint_options.resume},
      {"under_way", checkpoints.under_way()},       {"completed", checkpoints.completed()},
      {"given_up", checkpoints.given_up()},         {"last_failure", checkpoints.last_failure()}};
  if (const auto& last = checkpoints.last()) {
    state["last"] = {
        {"checkpoint", last->checkpoint}, {"iteration", last->iteration.value()}, {"folder", last->folder}};
    if (last->at != TimePoint{}) state["last"]["age_s"] = Seconds(status.now - last->at);
  }
  return state;
}

Figures Totals(const JobStatus& status) {
  Figures totals;
  for (const auto& [worker, report] : status.reports.workers) totals.AddAll(report.figures, "worker.");
  for (const auto& [shard, report] : status.reports.shards) totals.AddAll(report.figures, "server.");
  return totals;
}

}  // namespace

std::string ToJson(const JobStatus& status) {
  const json out = {{"job", status.job.job},         {"phase", status.phase},
                    {"epoch", status.epoch.value()}, {"uptime_s", Seconds(status.uptime)},
                    {"workers", Workers(status)},    {"shards", Shards(status)},
                    {"tables", Tables(status)},      {"totals", Totals(status)},
                    {"pools", Pools(status)},        {"checkpoints", CheckpointState(status)}};
  // Names come from peers: what is not UTF-8 is replaced, never thrown at.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace leeway
