#include "scenario/run_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "node/scheduler/block_bytes.h"
#include "problem/problem.h"
#include "scenario/run_books.h"
#include "scenario/simulated_worker.h"
#include "sim/cluster.h"
#include "sim/flow/flow_network.h"
#include "sim/flow/shared_cores.h"
#include "sim/nanoseconds.h"
#include "wire/kind.h"

namespace leeway::scenario {
namespace {

constexpr std::uint64_t kEventsPerLook = 4096;
constexpr std::uint64_t kDelayCoins = 21;  // which use of the seed
constexpr std::chrono::hours kForever{24 * 365};

// Simulated time in which no worker computes and no message is under way: after that the run is stuck.
constexpr std::chrono::hours kStillLimit{1};

Duration Seconds(double s) { return sim::SecondsAsDuration(s); }
double InSeconds(Duration d) { return std::chrono::duration<double>(d).count(); }

// No simulated member is declared dead, however long it takes, and nobody reads reports: neither is worth a
// message. The scheduler's review with every beat (rules that match nothing, switches that no shard took)
// waits as long.
LinkOptions PatientLinks() {
  LinkOptions link;
  link.beat = std::chrono::hours(1);
  link.silence_max = std::chrono::hours(24);
  link.hello_timeout = std::chrono::minutes(5);
  link.give_up_after = std::chrono::hours(24);
  return link;
}

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, problem::Problem& problem, std::uint64_t seed)
      : scenario_(scenario),
        problem_(problem),
        seed_(seed),
        grain_(problem.grain()),
        cluster_(OptionsOfCluster()) {
    books_.training = books_.present = scenario.job.workers;
  }

  RunRecord Go(const std::function<bool(const RunProgress&)>& progress) {
    workers_.resize(scenario_.job.workers);
    cluster_.Start([this](std::uint32_t rank) {
      workers_[rank] =
          std::make_unique<SimulatedWorker>(cluster_, cores_.get(), scenario_, problem_, books_, seed_, rank);
      workers_[rank]->Begin();
    });
    Train(progress);
    RunRecord record = RecordOfTraining();
    Finish(progress);
    const BlockCounters counters = cluster_.ServerCounters();
    record.applied = counters.applied + counters.summed;
    record.late_dropped = counters.late_dropped;
    record.errors = books_.errors;
    for (const std::string& error : cluster_.Problems()) record.errors.push_back(error);
    record.loss = books_.loss;
    record.accuracy = books_.accuracy;
    if (!books_.curve.empty() && std::isfinite(record.loss)) {
      const auto at_end = static_cast<std::uint64_t>(std::llround(IterationsOfAWorker()));
      record.curve.push_back({record.seconds, at_end, record.loss, record.accuracy});
    }
    return record;
  }

 private:
  [[nodiscard]] sim::ClusterOptions OptionsOfCluster() {
    sim::ClusterOptions options;
    options.seed = seed_;
    options.faults = false;
    options.job = scenario_.job;
    options.job.job = "scenario";
    options.job.seed = seed_;
    // A multiple of an element; one element stands for `grain_`.
    options.job.block_bytes = std::max<std::uint32_t>(BlockBytes() / grain_ / 4, 1) * 4;
    options.link = PatientLinks();
    options.link.frame_payload_bytes = std::max<std::uint64_t>(options.link.frame_payload_bytes / grain_, 1);
    options.suspect_after = kForever;
    options.expel_after = 2 * kForever;
    options.gather_timeout = kForever;
    options.make_network = [this](sim::EventQueue& queue) { return MakeNetwork(queue); };
    return options;
  }

  // The block size of the model that the problem stands for. The scheduler sees only the problem's elements,
  // so the size by need is computed here.
  [[nodiscard]] std::uint32_t BlockBytes() const {
    if (scenario_.job.block_bytes != 0) return scenario_.job.block_bytes;
    std::uint64_t model_bytes = 0;
    for (const problem::Table& table : problem_.tables()) {
      std::uint64_t elements = 1;
      for (const std::int64_t extent : table.shape) elements *= static_cast<std::uint64_t>(extent);
      model_bytes += elements * sizeof(float) * grain_;
    }
    const std::uint64_t shards = std::uint64_t{scenario_.job.servers} * scenario_.job.shards;
    return static_cast<std::uint32_t>(BlockBytesByNeed(model_bytes, shards));
  }

  [[nodiscard]] std::unique_ptr<sim::Network> MakeNetwork(sim::EventQueue& queue) {
    sim::FlowOptions options;
    options.latency = Seconds(scenario_.links.latency_s);
    options.payload_grain = grain_;
    options.host_model = [this](sim::HostId host) { return ModelOf(host); };
    if (scenario_.answer_delay.chance > 0) {
      options.extra_delay = [this](sim::HostId from, sim::HostId to, std::uint8_t kind) {
        return ExtraDelay(from, to, kind);
      };
    }
    options.delivered = [this](sim::HostId from, std::uint8_t kind, Duration took) {
      const bool is_answer = kind == static_cast<std::uint8_t>(wire::Kind::kAnswers) && IsServer(from);
      if (is_answer && books_.origin != Duration::max()) ++answers_[TimeBinOf(InSeconds(took))];
    };
    if (scenario_.cores > 0) cores_ = std::make_unique<sim::SharedCores>(queue, scenario_.cores);
    auto network = std::make_unique<sim::FlowNetwork>(queue, options);
    network_ = network.get();
    return network;
  }

  // Hosts: the scheduler's, then the servers', then the workers'.
  [[nodiscard]] bool IsServer(sim::HostId host) const {
    return host.index() >= 1 && host.index() <= scenario_.job.servers;
  }

  [[nodiscard]] sim::HostModel ModelOf(sim::HostId host) const {
    sim::HostModel model;
    model.bytes_per_second = scenario_.links.worker_bytes_per_second;
    model.cores = cores_.get();
    if (!IsServer(host)) return model;
    model.bytes_per_second = scenario_.links.server_bytes_per_second;
    double factor = 1;
    for (const auto& [server, slower] : scenario_.server.factors) {
      if (server + 1 == host.index()) factor *= slower;
    }
    model.cost.per_message = Seconds(scenario_.server.per_message_s * factor);
    model.cost.per_byte_ns = scenario_.server.per_byte_s * factor * 1e9;
    return model;
  }

  [[nodiscard]] Duration ExtraDelay(sim::HostId from, sim::HostId to, std::uint8_t kind) {
    if (kind != static_cast<std::uint8_t>(wire::Kind::kAnswers) || !IsServer(from)) return Duration::zero();
    const std::uint32_t rank = to.value() - 1 - scenario_.job.servers;
    const auto iteration = static_cast<std::uint64_t>(cluster_.worker(rank).iteration().value());
    const double coin = UnitInterval(Hash64({seed_, kDelayCoins, from.value(), rank, iteration}));
    return coin <= scenario_.answer_delay.chance ? Seconds(scenario_.answer_delay.seconds) : Duration::zero();
  }

  void Train(const std::function<bool(const RunProgress&)>& progress) {
    const std::uint64_t all =
        scenario_.pool > 0 ? scenario_.pool : scenario_.iterations * scenario_.job.workers;
    const bool limited = std::isfinite(scenario_.seconds_max);
    const auto is_late = [&] {
      return limited && books_.origin != Duration::max() &&
             InSeconds(cluster_.queue().now() - books_.origin) > scenario_.seconds_max;
    };
    while (books_.training > 0 && RunSome([this] { return books_.training == 0; }, progress, all)) {
      if (is_late()) {
        books_.errors.push_back(fmt::format("not done after {} simulated seconds", scenario_.seconds_max));
      }
    }
  }

  // Runs some events, fewer if `done`. False: the run is over.
  bool RunSome(const std::function<bool()>& done, const std::function<bool(const RunProgress&)>& progress,
               std::uint64_t all) {
    for (std::uint64_t i = 0; i < kEventsPerLook && !done(); ++i) {
      if (!cluster_.queue().RunOne()) {
        NobodyMoves();
        return false;
      }
    }
    if (!books_.errors.empty() || !cluster_.Problems().empty()) return false;
    const Duration now = cluster_.queue().now();
    const auto at = std::pair(books_.steps.size(), books_.present);
    if (books_.computing > 0 || network_->IsCarrying() || std::exchange(stood_at_, at) != at) moved_ = now;
    if (now - moved_ > kStillLimit + 2 * Seconds(scenario_.answer_delay.seconds)) {
      NobodyMoves();
      return false;
    }
    const Duration since = books_.origin == Duration::max() ? Duration::zero() : now - books_.origin;
    if (progress && !progress({books_.steps.size(), all, InSeconds(since), network_->counters().messages,
                               books_.training})) {
      books_.errors.emplace_back("stopped");
      return false;
    }
    return true;
  }

  void NobodyMoves() {
    books_.errors.emplace_back("nobody moves any more, and the job has not ended");
    for (const auto& worker : workers_) {
      if (worker != nullptr && books_.errors.size() < 5) books_.errors.push_back(worker->Where());
    }
  }

  void Finish(const std::function<bool(const RunProgress&)>& progress) {
    const auto over = [this] { return books_.present == 0 && cluster_.Ended(); };
    const std::uint64_t all = std::max<std::uint64_t>(books_.steps.size(), 1);
    while (books_.errors.empty() && cluster_.Problems().empty() && !over()) {
      if (!RunSome(over, progress, all)) return;
    }
  }

  // The iterations that the scenario sets, or the mean of those drawn from a pool.
  [[nodiscard]] double IterationsOfAWorker() const {
    if (scenario_.pool == 0) return static_cast<double>(std::max<std::uint64_t>(scenario_.iterations, 1));
    return std::max(static_cast<double>(books_.steps.size()), 1.0) / scenario_.job.workers;
  }

  [[nodiscard]] RunRecord RecordOfTraining() {
    RunRecord record;
    record.seed = seed_;
    if (books_.origin == Duration::max()) return record;
    record.seconds = InSeconds(books_.over - books_.origin);
    record.iterations = books_.steps.size();
    record.skipped = books_.workers.iterations_skipped;
    CountTimes(record);
    CountServers(record);
    CountLead(record);
    record.messages = network_->counters().messages;
    record.events = cluster_.queue().events_run();
    record.bytes = network_->counters().bytes;
    record.curve = books_.curve;
    for (CurvePoint& point : record.curve) point.seconds -= InSeconds(books_.origin);
    FillTimeline(record);
    FillMaps(record);
    return record;
  }

  void CountTimes(RunRecord& record) const {
    Duration computed{}, waited{};
    for (const Step& step : books_.steps) {
      computed += step.ended - step.began;
      waited += step.began - step.asked;
    }
    record.compute_s = InSeconds(computed) / scenario_.job.workers;
    record.wait_s = InSeconds(waited) / scenario_.job.workers;
    record.seconds_per_100 = record.seconds * 100.0 / IterationsOfAWorker();
    record.wait_bins.assign(kTimeBins, 0);
    for (const Step& step : books_.steps) {
      record.wait_bins[TimeBinOf(InSeconds(step.began - step.asked))] +=
          1.0 / static_cast<double>(books_.steps.size());
    }
    record.answer_bins.assign(kTimeBins, 0);
    const auto answers = static_cast<double>(std::reduce(answers_.begin(), answers_.end()));
    for (std::size_t bin = 0; bin < kTimeBins && answers > 0; ++bin) {
      record.answer_bins[bin] = static_cast<double>(answers_[bin]) / answers;
    }
  }

  void CountServers(RunRecord& record) {
    const BlockCounters counters = cluster_.ServerCounters();
    const std::vector<std::vector<std::uint64_t>> blocks = cluster_.ElementsOfServers();
    double count = 0;
    for (const auto& of_server : blocks) {
      double elements = 0;
      for (const std::uint64_t n : of_server) elements += static_cast<double>(n);
      count += static_cast<double>(of_server.size());
      record.server_bytes.push_back(elements * sizeof(float) * grain_);
    }
    if (count == 0) return;
    record.dprs = static_cast<double>(counters.delayed) * scenario_.job.servers / count;
    record.dprs_per_100 = record.dprs * 100.0 / IterationsOfAWorker();
  }

  void CountLead(RunRecord& record) const {
    double blocks = 0, sum = 0;
    for (std::size_t lead = 0; lead < books_.workers.lead.size(); ++lead) {
      blocks += static_cast<double>(books_.workers.lead[lead]);
      sum += static_cast<double>(lead * books_.workers.lead[lead]);
    }
    record.lead = blocks > 0 ? sum / blocks : 0;
  }

  void FillTimeline(RunRecord& record) const {
    const double from = scenario_.recording.timeline_from_s, to = from + scenario_.recording.timeline_s;
    for (const Step& step : books_.steps) {
      const IterationSpan span{step.rank, step.iteration, InSeconds(step.asked - books_.origin),
                               InSeconds(step.began - books_.origin), InSeconds(step.ended - books_.origin)};
      if (span.asked_s < to && span.ended_s > from) record.timeline.push_back(span);
    }
    std::ranges::sort(record.timeline, [](const IterationSpan& a, const IterationSpan& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.iteration < b.iteration;
    });
  }

  // Steps are in the order of their ends, so the fastest worker so far is known at each.
  void FillMaps(RunRecord& record) const {
    TimeMap map;
    map.rows = scenario_.job.workers;
    map.columns = scenario_.recording.map_columns;
    map.column_s = record.seconds / std::max<std::uint32_t>(map.columns, 1);
    map.values.assign(std::size_t{map.rows} * map.columns, 0);
    record.lag = record.waits = map;
    if (map.columns == 0 || record.seconds <= 0) return;
    std::vector<std::uint32_t> counts(map.values.size());
    std::vector<double> times(map.values.size());
    std::uint32_t fastest = 0;
    for (const Step& step : books_.steps) {
      fastest = std::max(fastest, step.iteration);
      const double at = InSeconds(step.ended - books_.origin);
      const auto column = std::min(map.columns - 1, static_cast<std::uint32_t>(at / map.column_s));
      const std::size_t cell = std::size_t{step.rank} * map.columns + column;
      record.lag.values[cell] += fastest - step.iteration;
      record.waits.values[cell] += InSeconds(step.began - step.asked);
      times[cell] += InSeconds(step.ended - step.asked);
      ++counts[cell];
    }
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
      const double nothing = std::numeric_limits<double>::quiet_NaN();
      record.lag.values[cell] = counts[cell] > 0 ? record.lag.values[cell] / counts[cell] : nothing;
      record.waits.values[cell] = times[cell] > 0 ? record.waits.values[cell] / times[cell] : nothing;
    }
  }

  const Scenario& scenario_;
  problem::Problem& problem_;
  const std::uint64_t seed_;
  const std::uint32_t grain_;
  RunBooks books_;
  std::pair<std::size_t, std::uint32_t> stood_at_;  // steps and members at the last look
  Duration moved_{0};
  std::array<std::uint64_t, kTimeBins> answers_{};  // by how long they took
  sim::FlowNetwork* network_ = nullptr;             // the cluster's
  std::unique_ptr<sim::SharedCores> cores_;         // null: everyone has one
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  sim::Cluster cluster_;  // its end comes before that of the workers, which its events call
};

}  // namespace

Result<RunRecord> RunScenario(const Scenario& scenario, const Registry<problem::Problem>& problems,
                              std::uint64_t seed, const std::function<bool(const RunProgress&)>& progress) {
  const Result<problem::ProblemPtr> made = problems.MakeFromSpec(scenario.problem);
  if (!made.ok()) return made.status().WithContext(KeyWithPlace(scenario, "training.problem"));
  const problem::ProblemPtr& problem = *made;
  ScenarioRun run(scenario, *problem, seed);
  return run.Go(progress);
}

}  // namespace leeway::scenario
