#include "calibrate/job_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "checkpoint/key_reader.h"
#include "system/text_file.h"

namespace leeway::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kDay = 86'400, kYear = 365 * kDay;
constexpr std::size_t kTablesMax = 100'000;
constexpr std::uint64_t kRecordedElementsMax = std::uint64_t{1} << 40;  // of all tables together
constexpr std::size_t kQuantilesMax = 100'000;
constexpr std::uint64_t kIterationsMax = std::uint64_t{1} << 40;

Json JobJson(const JobRecord& record) {
  const JobOptions& job = record.job;
  return {{"workers", job.workers},
          {"servers", job.servers},
          {"shards", job.shards},
          {"sync", job.sync},
          {"apply", job.apply},
          {"rules", job.rules},
          {"pull", job.pull},
          {"exchange", job.exchange},
          {"overlap", job.overlap},
          {"flush_bytes", job.flush_bytes},
          {"priorities", job.priorities},
          {"pull_at", job.pull_at},
          {"placement", job.placement},
          {"block_bytes", job.block_bytes},
          {"transport", record.transport}};
}

void ReadJob(KeyReader keys, JobRecord& record) {
  JobOptions& job = record.job;
  job.workers = static_cast<std::uint32_t>(keys.Number("workers", 1, 65'536));
  job.servers = static_cast<std::uint32_t>(keys.Number("servers", 1, 4'096));
  job.shards = static_cast<std::uint32_t>(keys.Number("shards", 1, 256));
  job.sync = keys.Text("sync");
  job.apply = keys.Text("apply");
  for (const KeyReader::Json& rule : keys.List("rules")) {
    if (!rule.is_string()) return keys.Refuse("rules", "got " + rule.dump() + ", wanted texts");
    job.rules.push_back(rule.get<std::string>());
  }
  job.pull = keys.Text("pull");
  job.exchange = keys.Text("exchange");
  job.overlap = keys.Bool("overlap");
  job.flush_bytes = static_cast<std::uint32_t>(keys.Number("flush_bytes", 1, 1U << 30));
  job.priorities = keys.Bool("priorities");
  job.pull_at = keys.Text("pull_at");
  if (keys.ok() && job.pull_at != "ready" && job.pull_at != "clock")
    keys.Refuse("pull_at", fmt::format("got \"{}\", wanted \"ready\" or \"clock\"", job.pull_at));
  job.placement = keys.Text("placement");
  job.block_bytes = static_cast<std::uint32_t>(keys.Number("block_bytes", 0, 1U << 30));
  record.transport = keys.Text("transport");
  keys.Finish();
}

RecordedWorker ReadWorker(const KeyReader::Json& json, const std::string& path, Status& error) {
  RecordedWorker worker;
  KeyReader keys(json, path, error);
  worker.iterations = keys.Number("iterations", 1, kIterationsMax);
  worker.cpu_s = keys.Real("cpu_s", 0, kDay);
  worker.elsewhere_s = keys.Real("elsewhere_s", 0, kDay);
  worker.slowed = keys.Real("slowed", 1, 1000);
  const KeyReader::Json& quantiles = keys.List("cpu_s_quantiles");
  if (keys.ok() && (quantiles.empty() || quantiles.size() > kQuantilesMax)) {
    keys.Refuse("cpu_s_quantiles", fmt::format("got {}, wanted 1 to {}", quantiles.size(), kQuantilesMax));
  }
  for (const KeyReader::Json& each : quantiles) {
    const double before = worker.cpu_s_quantiles.empty() ? 0 : worker.cpu_s_quantiles.back();
    const double value = each.is_number() ? each.get<double>() : -1;
    if (!(value >= before && value <= kDay)) {
      keys.Refuse("cpu_s_quantiles",
                  fmt::format("got {} after {}, wanted seconds that do not fall", each.dump(), before));
      break;
    }
    worker.cpu_s_quantiles.push_back(value);
  }
  keys.Finish();
  return worker;
}

void ReadTables(const KeyReader::Json& list, Status& error, std::vector<RecordedTable>& tables) {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < std::min(list.size(), kTablesMax) && error.ok(); ++i) {
    KeyReader keys(list[i], fmt::format("tables[{}]", i), error);
    tables.push_back({.name = keys.Text("name"),
                      .elements = keys.Number("elements", 1, kRecordedElementsMax),
                      .ready_share = keys.Real("ready_share", 0, 1)});
    elements += tables.back().elements;
    if (keys.ok() && elements > kRecordedElementsMax) {
      keys.Refuse("elements", fmt::format("got {}, which makes {} of all tables so far, wanted at most {}",
                                          tables.back().elements, elements, kRecordedElementsMax));
    }
    keys.Finish();
  }
}

}  // namespace

std::string ToJson(const JobRecord& record) {
  Json tables = Json::array(), workers = Json::array();
  for (const RecordedTable& table : record.tables) {
    tables.push_back(
        {{"name", table.name}, {"elements", table.elements}, {"ready_share", table.ready_share}});
  }
  for (const RecordedWorker& worker : record.workers) {
    workers.push_back({{"iterations", worker.iterations},
                       {"cpu_s", worker.cpu_s},
                       {"elsewhere_s", worker.elsewhere_s},
                       {"slowed", worker.slowed},
                       {"cpu_s_quantiles", worker.cpu_s_quantiles}});
  }
  const Json json = {
      {"leeway_record", kRecordVersion},
      {"job", JobJson(record)},
      {"measured",
       {{"seconds", record.seconds}, {"iterations", record.iterations}, {"pooled", record.pooled}}},
      {"host", {{"cores", record.host.cores}, {"others_cores", record.host.others_cores}}},
      {"costs",
       {{"latency_s", record.costs.latency_s},
        {"bytes_per_second", record.costs.bytes_per_second},
        {"per_message_s", record.costs.per_message_s},
        {"per_byte_s", record.costs.per_byte_s}}},
      {"tables", tables},
      {"workers", workers}};
  return json.dump(1) + "\n";
}

Result<JobRecord> ParseJobRecord(std::string_view text, const std::string& name) {
  const KeyReader::Json json = KeyReader::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return InvalidArgument("{}: got {} bytes that are no JSON object, wanted what leeway run --record wrote",
                           name, text.size());
  }
  Status error;
  JobRecord record;
  KeyReader keys(json, "", error);
  (void)keys.Number("leeway_record", kRecordVersion, kRecordVersion);
  ReadJob(keys.Object("job"), record);
  KeyReader measured = keys.Object("measured");
  record.seconds = measured.Real("seconds", 1e-6, 100 * kYear);
  record.iterations = measured.Number("iterations", 1, kIterationsMax);
  record.pooled = measured.Bool("pooled");
  measured.Finish();
  KeyReader host = keys.Object("host");
  record.host.cores = static_cast<std::uint32_t>(host.Number("cores", 1, 1U << 20));
  record.host.others_cores = host.Real("others_cores", 0, record.host.cores);
  host.Finish();
  KeyReader costs = keys.Object("costs");
  record.costs = {.latency_s = costs.Real("latency_s", 0, 100),
                  .bytes_per_second = costs.Real("bytes_per_second", 1, 1e15),
                  .per_message_s = costs.Real("per_message_s", 0, 1),
                  .per_byte_s = costs.Real("per_byte_s", 0, 1e-3)};
  costs.Finish();
  const KeyReader::Json& tables = keys.List("tables");
  if (keys.ok() && (tables.empty() || tables.size() > kTablesMax))
    keys.Refuse("tables", fmt::format("got {} tables, wanted 1 to {}", tables.size(), kTablesMax));
  ReadTables(tables, error, record.tables);
  const KeyReader::Json& workers = keys.List("workers");
  if (keys.ok() && workers.size() != record.job.workers)
    keys.Refuse("workers",
                fmt::format("got {} of them, wanted {}, as the job has", workers.size(), record.job.workers));
  for (std::size_t i = 0; i < workers.size() && error.ok(); ++i)
    record.workers.push_back(ReadWorker(workers[i], fmt::format("workers[{}]", i), error));
  keys.Finish();
  if (!error.ok()) return error.WithContext(name);
  return record;
}

Result<JobRecord> ReadJobRecord(const std::string& path) {
  LW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  return ParseJobRecord(text, path);
}

}  // namespace leeway::app
