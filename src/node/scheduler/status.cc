#include "node/scheduler/status.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.h"
#include "node/seconds.h"

namespace leeway {
namespace {

using nlohmann::json;

template <typename Key>
NodeReport ReportOf(const std::map<Key, NodeReport>& reports, Key key) {
  const auto found = reports.find(key);
  return found == reports.end() ? NodeReport{} : found->second;
}

// The state of a worker, as in its last report.
json Moment(const wire::pb::WorkerMoment& moment, const Membership& members) {
  json now = {{"computing_s", moment.computing_s()},
              {"waits_on", moment.waits_on()},
              {"waiting_s", moment.waiting_s()},
              {"name", moment.name()}};
  if (moment.has_shard()) {
    for (const ShardSeat& seat : members.shards()) {
      if (seat.id.value() == moment.shard()) now["server"] = seat.server.value();
    }
  }
  json ranks = json::array();
  for (const std::uint32_t rank : moment.ranks()) ranks.push_back(rank);
  now["ranks"] = std::move(ranks);
  return now;
}

double Age(const NodeReport& report, TimePoint now) {
  return report.at() == TimePoint{} ? 0.0 : Seconds(now - report.at());
}

json Workers(const JobStatus& status) {
  json workers = json::array();
  for (const WorkerSeat& seat : status.members.workers()) {
    if (seat.state == WorkerState::kAwaited) continue;
    const NodeReport report = ReportOf(status.reports.workers, seat.rank);
    workers.push_back({{"rank", seat.rank.value()},
                       {"incarnation", seat.incarnation.value()},
                       {"state", WorkerStateName(seat.state)},
                       {"iteration", report.iteration().value()},
                       {"waiting_for", report.waiting_for()},
                       {"host", seat.host},
                       {"pid", seat.pid},
                       {"lost_because", seat.ended_because},
                       {"silent_s", Seconds(status.now - seat.last_heard)},
                       {"report_age_s", Age(report, status.now)},
                       {"now", Moment(report.moment(), status.members)},
                       {"figures", report.figures()}});
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
                      {"waiting_for", report.waiting_for()},
                      {"report_age_s", Age(report, status.now)},
                      {"figures", report.figures()}});
  }
  return shards;
}

// The reports of one server's shards about a table.
struct Standing {
  wire::pb::TableReport sum;
  std::vector<wire::pb::TableModel> models;  // that its blocks follow; one, but while they are switched

  void Add(const wire::pb::TableReport& report, const std::vector<wire::pb::TableModel>& known) {
    if (report.model() > 0 && report.model() <= known.size()) {
      const wire::pb::TableModel& model = known[report.model() - 1];
      const auto same = [&model](const wire::pb::TableModel& other) {
        return other.sync() == model.sync() && other.apply() == model.apply();
      };
      if (std::ranges::none_of(models, same)) models.push_back(model);
    }
    const bool first = sum.blocks() == 0;
    sum.set_v_train_min(first ? report.v_train_min() : std::min(sum.v_train_min(), report.v_train_min()));
    sum.set_v_train_max(first ? report.v_train_max() : std::max(sum.v_train_max(), report.v_train_max()));
    sum.set_fastest(first ? report.fastest() : std::max(sum.fastest(), report.fastest()));
    sum.set_slowest(first ? report.slowest() : std::min(sum.slowest(), report.slowest()));
    sum.set_waiting(sum.waiting() + report.waiting());
    if (sum.waiting_for().empty()) {
      sum.set_waiting_for(report.waiting_for());
      *sum.mutable_missing() = report.missing();
    }
    sum.set_dpr(sum.dpr() + report.dpr());
    sum.set_waited_s(sum.waited_s() + report.waited_s());
    sum.set_blocks(sum.blocks() + report.blocks());
    sum.set_more_tables(std::max(sum.more_tables(), report.more_tables()));
  }
  // "ssp:3", or "bsp | ssp:3" where shards differ.
  template <typename Text>
  [[nodiscard]] std::string Models(Text text) const {
    std::string all;
    for (const wire::pb::TableModel& model : models) all += (all.empty() ? "" : " | ") + text(model);
    return all;
  }
  [[nodiscard]] json ToJson(ServerId server) const {
    return {{"server", server.value()},
            {"sync", Models([](const wire::pb::TableModel& model) { return model.sync(); })},
            {"apply", Models([](const wire::pb::TableModel& model) { return model.apply(); })},
            {"blocks", sum.blocks()},
            {"v_train", sum.v_train_min()},
            {"v_train_max", sum.v_train_max()},
            {"fastest", sum.fastest()},
            {"slowest", sum.slowest()},
            {"waiting", sum.waiting()},
            {"waiting_for", sum.waiting_for()},
            {"missing", json(std::vector<std::uint32_t>(sum.missing().begin(), sum.missing().end()))},
            {"dpr", sum.dpr()},
            {"waited_s", sum.waited_s()}};
  }
};

struct Standings {
  std::map<TableId, std::map<ServerId, Standing>> tables;
  std::map<ServerId, Standing> more;  // of tables that have no row of their own
};

Standings StandingsOf(const JobStatus& status) {
  Standings standings;
  for (const ShardSeat& seat : status.members.shards()) {
    const auto found = status.reports.shards.find(seat.id);
    if (found == status.reports.shards.end()) continue;
    for (const wire::pb::TableReport& report : found->second.tables()) {
      auto& of = report.more_tables() > 0 ? standings.more : standings.tables[TableId(report.table())];
      of[seat.server].Add(report, found->second.models());
    }
  }
  return standings;
}

json Tables(const JobStatus& status, const Standings& standings) {
  json tables = json::array();
  for (const TableRegistry::Entry& entry : status.tables.all()) {
    json servers = json::array();
    const auto found = standings.tables.find(TableId(entry.map.id()));
    if (found != standings.tables.end()) {
      for (const auto& [server, standing] : found->second) servers.push_back(standing.ToJson(server));
    }
    tables.push_back({{"name", entry.spec.name},
                      {"elements", entry.spec.elements()},
                      {"blocks", entry.map.blocks_size()},
                      {"sync", entry.map.sync()},
                      {"apply", entry.map.apply()},
                      {"optimizer", entry.spec.optimizer},
                      {"clock", entry.spec.clock == TableClock::kOwn ? "own" : "job"},
                      {"servers", std::move(servers)}});
  }
  return tables;
}

json MoreTables(const Standings& standings) {
  json more = json::array();
  for (const auto& [server, standing] : standings.more) {
    json row = standing.ToJson(server);
    row["tables"] = standing.sum.more_tables();
    more.push_back(std::move(row));
  }
  return more;
}

json Pools(const JobStatus& status) {
  json pools = json::array();
  for (const auto& [name, pool] : status.pools.all()) {
    pools.push_back(
        {{"name", name}, {"batches", pool.batches}, {"leased", pool.at_work()}, {"done", pool.done}});
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
  for (const auto& [worker, report] : status.reports.workers) totals.AddAll(report.figures(), "worker.");
  for (const auto& [shard, report] : status.reports.shards) totals.AddAll(report.figures(), "server.");
  return totals;
}

// As long as a path may be.
constexpr std::size_t kTextBytesMax = 4096;

// Most texts in a status come from peers. No text may end a line or move the cursor of the terminal.
void MakePrintable(json& value) {
  if (value.is_string()) {
    if (std::string text = Printable(value.get_ref<const std::string&>(), kTextBytesMax);
        text != value.get_ref<const std::string&>())
      value = std::move(text);
  } else if (value.is_array()) {
    for (json& entry : value) MakePrintable(entry);
  } else if (value.is_object()) {
    for (auto& [name, entry] : value.get_ref<json::object_t&>()) MakePrintable(entry);
  }
}

}  // namespace

std::string ToJson(const JobStatus& status) {
  const Standings standings = StandingsOf(status);
  json out = {{"job", status.job.job},
              {"phase", status.phase},
              {"epoch", status.epoch.value()},
              {"uptime_s", Seconds(status.now - status.reports.Began(status.started))},
              {"workers", Workers(status)},
              {"shards", Shards(status)},
              {"totals", Totals(status)},
              {"pools", Pools(status)},
              {"rules", status.tables.Rules()},
              {"checkpoints", CheckpointState(status)}};
  // Adds pushes that dead workers cannot report, and pushes that a fuzzy checkpoint did not have.
  out["lacking"] = {{"lost", status.lacking.lost}, {"torn", status.lacking.torn}};
  out["served"] = status.served;
  out["wanted"] = {{"workers", status.job.workers}, {"servers", status.job.servers}};
  if (status.members.gathered()) out["gathered_after_s"] = Seconds(status.gathered_after);
  if (status.took_over) out["took_over_s"] = Seconds(status.now - status.started);
  out["training_s"] = Seconds(status.reports.Training());
  out["tables"] = Tables(status, standings);
  if (!standings.more.empty()) out["more_tables"] = MoreTables(standings);
  MakePrintable(out);
  // Names of figures come from peers too: bytes that are not UTF-8 are replaced, and throw nothing.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool AllServed(const Membership& members, const Reports& reports) {
  if (!members.gathered() || !members.AnyLeft()) return false;
  return std::ranges::all_of(members.workers(), [&](const WorkerSeat& seat) {
    if (seat.state == WorkerState::kAwaited || seat.state == WorkerState::kDead) return true;
    const auto report = reports.workers.find(seat.rank);
    const bool has_final = report != reports.workers.end() && report->second.has_final();
    return seat.state == WorkerState::kLeft && (seat.done || has_final);
  });
}

}  // namespace leeway
