#include "calibrate/run_recorder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "process/compute_record.h"

namespace leeway::app {
namespace {

constexpr std::size_t kQuantiles = 200;

// record.cpu.N: how many iterations took about kBucketBase^N microseconds.
std::vector<std::pair<double, double>> TimesOf(const Figures& figures) {
  constexpr std::string_view kPrefix = "record.cpu.";
  std::vector<std::pair<double, double>> times;  // seconds, and how often
  for (const auto& [name, count] : figures) {
    if (!name.starts_with(kPrefix)) continue;
    int bucket = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), bucket);
    times.emplace_back(std::pow(ComputeRecord::kBucketBase, bucket) * 1e-6, count);
  }
  std::ranges::sort(times);
  return times;
}

std::vector<double> QuantilesOf(const std::vector<std::pair<double, double>>& times, double mean) {
  double all = 0;
  for (const auto& [time, count] : times) all += count;
  std::vector<double> quantiles;
  double sum = 0, below = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < kQuantiles && !times.empty(); ++i) {
    const double rank = (static_cast<double>(i) + 0.5) / kQuantiles * all;
    while (at + 1 < times.size() && below + times[at].second < rank) below += times[at++].second;
    quantiles.push_back(times[at].first);
    sum += times[at].first;
  }
  // A bucket is a few percent wide; the mean is known exactly.
  for (double& quantile : quantiles) quantile *= mean * static_cast<double>(quantiles.size()) / sum;
  return quantiles;
}

Result<RecordedWorker> WorkerOf(const WorkerStatus& status,
                                const std::map<std::uint32_t, double>& slow_workers) {
  const Figures& figures = status.figures;
  RecordedWorker worker;
  worker.iterations = static_cast<std::uint64_t>(Figure(figures, "record.iterations"));
  if (worker.iterations == 0) {
    return FailedPrecondition(
        "worker {} has not reported what its computing takes, wanted one that ends two iterations or more "
        "with Clock or step()",
        status.rank);
  }
  if (status.incarnation > 1) {
    return FailedPrecondition("worker {} was started again, wanted a run in which none was", status.rank);
  }
  const auto n = static_cast<double>(worker.iterations);
  worker.cpu_s = Figure(figures, "record.cpu_s") / n;
  const auto slowed = slow_workers.find(status.rank);
  if (slowed != slow_workers.end()) worker.slowed = slowed->second;
  // A slow worker's sleep is known by its factor.
  worker.elsewhere_s = std::max(0.0, Figure(figures, "record.elsewhere_s") - Figure(figures, "slowed_s")) / n;
  worker.cpu_s_quantiles = QuantilesOf(TimesOf(figures), worker.cpu_s);
  return worker;
}

}  // namespace

void RunRecorder::Look(const JobStatus& status, std::span<const pid_t> servers,
                       std::span<const pid_t> others) {
  const auto all = [&status](auto is) { return std::ranges::all_of(status.workers, is); };
  if (status.workers.size() != run_.job.workers ||
      !all([](const WorkerStatus& worker) { return worker.state == "joined"; })) {
    return;
  }
  Use use{.machine = bench::MachineTimeNow()};
  double servers_s = 0;
  for (const pid_t pid : servers) servers_s += bench::ProcessorSeconds(pid);
  use.job_s = servers_s + bench::OwnProcessorSeconds();
  for (const pid_t pid : others) use.job_s += bench::ProcessorSeconds(pid);
  // Best from when they all train; a short job is over before anybody has said so.
  const bool trains = all([](const WorkerStatus& worker) { return worker.iteration > 0; });
  if (!first_ || (trains && !trained_)) first_ = use;
  trained_ = trained_ || trains;
  last_ = use;
  if (trains) LookAtServers(status, servers_s);
}

void RunRecorder::LookAtServers(const JobStatus& status, double cpu_s) {
  std::vector<double> reports;
  for (const ShardStatus& shard : status.shards) reports.push_back(Figure(shard.figures, "reports"));
  const bool first = reports_.size() != reports.size();
  if (!first && !std::ranges::equal(reports, reports_, std::ranges::not_equal_to())) return;
  reports_ = std::move(reports);
  if (first) return;  // what was told by then may be of any age
  service_last_ = {.cpu_s = cpu_s,
                   .bytes = status.OfShards("bytes_in") + status.OfShards("bytes_out"),
                   .frames = status.OfShards("frames_in")};
  if (!service_first_) service_first_ = service_last_;
}

RecordedHost RunRecorder::Host() const {
  RecordedHost host;
  host.cores = std::max(1U, std::thread::hardware_concurrency());
  const double job_s = last_->job_s - first_->job_s;
  host.others_cores = bench::OthersShare(first_->machine, last_->machine, job_s) * host.cores;
  return host;
}

// The servers' time without the cost of messages is the cost of bytes. A job that is too short for two rounds
// of reports keeps the measured cost of a byte.
ExchangeCosts RunRecorder::Costs() const {
  ExchangeCosts costs = run_.costs;
  if (!service_first_) return costs;
  const double bytes = service_last_->bytes - service_first_->bytes;
  const double frames = service_last_->frames - service_first_->frames;
  const double work_s = service_last_->cpu_s - service_first_->cpu_s - frames * costs.per_message_s;
  if (bytes > 0) costs.per_byte_s = std::max(0.0, work_s) / bytes;
  return costs;
}

Result<JobRecord> RunRecorder::Make(const JobStatus& status) const {
  JobRecord record;
  record.job = run_.job;
  record.transport = run_.transport;
  if (status.workers.size() != record.job.workers) {
    return FailedPrecondition("got figures of {} workers, wanted {}", status.workers.size(),
                              record.job.workers);
  }
  for (const WorkerStatus& worker : status.workers) {
    LW_ASSIGN_OR_RETURN(RecordedWorker recorded, WorkerOf(worker, run_.slow_workers));
    record.iterations += recorded.iterations;
    record.seconds = std::max(record.seconds, Figure(worker.figures, "record.seconds"));
    record.workers.push_back(std::move(recorded));
  }
  if (!first_ || record.seconds <= 0) {
    return FailedPrecondition(
        "the job was over before it was looked at while all workers were there, wanted a longer run");
  }
  for (const TableStatus& table : status.tables) {
    const std::string ready = fmt::format("record.ready.{}", record.tables.size());
    const double share = status.OfWorkers(ready) / static_cast<double>(record.iterations);
    record.tables.push_back({table.name, table.elements, share > 0 ? std::min(share, 1.0) : 1.0});
  }
  if (record.tables.empty()) return FailedPrecondition("the job has no table, wanted one or more");
  record.pooled = !status.pools.empty();
  record.host = Host();
  record.costs = Costs();
  return record;
}

}  // namespace leeway::app
