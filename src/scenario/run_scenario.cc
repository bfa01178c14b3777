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
#include "scenario/disturbance_times.h"
#include "scenario/machines.h"
#include "scenario/processes.h"
#include "scenario/run_books.h"
#include "scenario/sync_switches.h"
#include "scenario/time_maps.h"
#include "sim/cluster.h"
#include "sim/flow/flow_network.h"
#include "sim/flow/shared_cores.h"
#include "sim/nanoseconds.h"
#include "wire/kind.h"

namespace leeway::scenario {
namespace {

constexpr std::uint64_t kEventsPerLook = 4096;
constexpr std::uint64_t kDelayCoins = 21, kDisturbances = 22, kCheckpointDisk = 23;  // uses of the seed
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
  ScenarioRun(const Scenario& scenario, problem::Problem& problem, std::uint64_t seed,
              std::vector<Disturbance> disturbances, std::vector<SyncSwitch> switches)
      : scenario_(scenario),
        problem_(problem),
        seed_(seed),
        grain_(problem.grain()),
        cluster_(OptionsOfCluster()),
        machines_(scenario, *network_, cores_.get()),
        disturbances_(
            cluster_.queue(), scenario, std::move(disturbances), Hash64({seed, kDisturbances}),
            [this](const Disturbance& what, const Member& whom) { BeginDisturbance(what, whom); },
            [this](const Disturbance& what, const Member& whom) { EndDisturbance(what, whom); }) {
    processes_ = std::make_unique<Processes>(cluster_, machines_, scenario, problem, books_, seed);
    switches_ = std::make_unique<SyncSwitches>(cluster_, *processes_, books_, std::move(switches));
    books_.begun = [this] {
      network_->CountLoadAnew();
      disturbances_.Start();
      switches_->Start();
    };
    books_.training = books_.present = scenario.job.workers;
  }

  RunRecord Go(const std::function<bool(const RunProgress&)>& progress) {
    processes_->Start();
    Train(progress);
    RunRecord record = RecordOfTraining();
    Finish(progress);
    const BlockCounters counters = cluster_.ServerCounters();
    record.applied = counters.applied + counters.summed + books_.lost_with_servers.taken;
    record.late_dropped = counters.late_dropped + books_.lost_with_servers.late_dropped;
    CountLosses(record);
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
    options.policies = scenario_.policies;
    options.job.job = "scenario";
    options.job.seed = seed_;
    // A multiple of an element; one element stands for `grain_`.
    options.job.block_bytes = std::max<std::uint32_t>(BlockBytes() / grain_ / 4, 1) * 4;
    options.job.flush_bytes = std::max<std::uint32_t>(scenario_.job.flush_bytes / grain_, 1);
    options.suspect_after = kForever;
    options.expel_after = 2 * kForever;
    options.gather_timeout = kForever;
    if (scenario_.faults.plan.empty() && scenario_.faults.checkpoint_every == 0) {
      options.link = PatientLinks();
    } else {
      SetRealLimits(options);
    }
    options.link.frame_payload_bytes = std::max<std::uint64_t>(options.link.frame_payload_bytes / grain_, 1);
    if (scenario_.faults.checkpoint_every > 0) {
      options.checkpoint.folder = options.shared_folder = "/checkpoints";
      options.checkpoint.every_iterations = scenario_.faults.checkpoint_every;
      sim::DiskOptions disk;
      disk.bytes_per_second = std::max<std::uint64_t>(disk.bytes_per_second / grain_, 1);
      checkpoints_ = std::make_unique<sim::Disk>(disk, Hash64({seed_, kCheckpointDisk}));
      options.shared_disk = checkpoints_.get();
    }
    options.job_costs = [this](sim::HostId host) { return JobCostsOf(host); };
    options.make_network = [this](sim::EventQueue& queue) { return MakeNetwork(queue); };
    return options;
  }

  // A job with faults or checkpoints has the beats and limits of a real one, and loses processes as it does.
  void SetRealLimits(sim::ClusterOptions& options) {
    const SchedulerOptions usual;
    options.link = usual.link;
    options.expel_after = std::chrono::milliseconds(std::llround(scenario_.faults.expel_after_s * 1e3));
    options.suspect_after = std::min(usual.suspect_after, options.expel_after);
    options.gather_timeout = usual.gather_timeout;
    options.may_fail = [this](std::uint32_t rank, const Status& why) {
      return processes_->TakeFailure({.is_server = false, .index = rank}, why);
    };
    options.server_may_fail = [this](std::uint32_t server, const Status& why) {
      return processes_->TakeFailure({.is_server = true, .index = server}, why);
    };
  }

  void BeginDisturbance(const Disturbance& disturbance, const Member& member) {
    if (disturbance.what != Disturbance::What::kKill) return machines_.Begin(disturbance, member);
    processes_->Kill(member, disturbance.for_s.has_value());
  }
  void EndDisturbance(const Disturbance& disturbance, const Member& member) {
    if (disturbance.what != Disturbance::What::kKill) return machines_.End(disturbance, member);
    processes_->EndKill(member);
  }

  // The block size of the model that the problem stands for. The scheduler sees only the problem's elements,
  // so the size by need is computed here.
  [[nodiscard]] std::uint32_t BlockBytes() const {
    if (scenario_.job.block_bytes != 0) return scenario_.job.block_bytes;
    std::uint64_t model_bytes = 0;
    for (const problem::Table& table : problem_.tables())
      model_bytes += table.elements() * sizeof(float) * grain_;
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
    options.delivered = [this](sim::HostId from, sim::HostId to, std::uint8_t kind, Duration took) {
      if (books_.origin != Duration::max()) CountMessage(from, to, kind, InSeconds(took));
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

  void CountMessage(sim::HostId from, sim::HostId to, std::uint8_t kind, double took_s) {
    if (IsServer(from) && kind == static_cast<std::uint8_t>(wire::Kind::kAnswers))
      ++answers_[TimeBinOf(took_s)];
    if (!IsServer(to) || from.index() <= scenario_.job.servers) return;
    message_times_.resize(scenario_.job.servers);
    auto& [count, sum_s] = message_times_[to.index() - 1];
    ++count;
    sum_s += took_s;
  }

  // Above 1 for a slow server.
  [[nodiscard]] double SlownessOf(sim::HostId host) const {
    double factor = 1;
    for (const auto& [server, slower] : scenario_.server.factors) {
      if (server + 1 == host.index()) factor *= slower;
    }
    return factor;
  }

  [[nodiscard]] sim::JobCosts JobCostsOf(sim::HostId host) const {
    const JobModel& jobs = scenario_.jobs;
    const double factor = SlownessOf(host), grain_ns = factor * static_cast<double>(grain_) * 1e9;
    sim::JobCosts costs{.per_job = Seconds(jobs.job_s * factor),
                        .encode_ns_per_byte = jobs.encode_per_byte_s * grain_ns,
                        .decode_ns_per_byte = jobs.decode_per_byte_s * grain_ns};
    if (cores_ != nullptr) {
      costs.on_cores = [cores = cores_.get()](Duration work, std::function<void()> done) {
        cores->Run(work, std::move(done));
      };
    }
    return costs;
  }

  [[nodiscard]] sim::HostModel ModelOf(sim::HostId host) const {
    sim::HostModel model;
    model.bytes_per_second = scenario_.links.worker_bytes_per_second;
    model.cores = cores_.get();
    if (!IsServer(host)) {
      const std::uint32_t first_worker = 1 + scenario_.job.servers;
      const bool has_partner =
          host.value() >= first_worker && host.value() - first_worker < scenario_.job.servers;
      if (scenario_.together && has_partner)
        model.card_of = sim::HostId(host.value() - scenario_.job.servers);
      return model;
    }
    model.bytes_per_second = scenario_.links.server_bytes_per_second;
    const double factor = SlownessOf(host);
    model.cost.per_message = Seconds(scenario_.server.per_message_s * factor);
    model.cost.per_byte_ns = scenario_.server.per_byte_s * factor * 1e9;
    return model;
  }

  [[nodiscard]] Duration ExtraDelay(sim::HostId from, sim::HostId to, std::uint8_t kind) {
    if (kind != static_cast<std::uint8_t>(wire::Kind::kAnswers) || !IsServer(from)) return Duration::zero();
    const std::uint32_t rank = to.value() - 1 - scenario_.job.servers;
    if (!processes_->IsUp({.is_server = false, .index = rank})) return Duration::zero();
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
    if (HasMoved()) moved_ = now;
    if (now - moved_ > Patience()) {
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

  // Whether an iteration has ended since the last call, or somebody is at work. Work that processes begin
  // anew after they have died counts only if iterations end.
  bool HasMoved() {
    const auto at = std::pair(books_.steps.size(), books_.present);
    if (std::exchange(stood_at_, at) != at) {
      deaths_seen_ = books_.deaths;
      return true;
    }
    return books_.deaths == deaths_seen_ && (books_.computing > 0 || network_->IsCarrying());
  }

  // The longest time in which a job that goes on may seem to stand still.
  [[nodiscard]] Duration Patience() const {
    constexpr int kTries = 20;  // iterations that deaths may cut short, one after the other
    Duration patience = kStillLimit + 2 * Seconds(scenario_.answer_delay.seconds);
    if (books_.deaths == 0) return patience;
    patience += kTries * books_.longest;
    for (const Disturbance& disturbance : disturbances_.all())
      patience += kTries * Seconds(disturbance.for_s.value_or(0));
    return patience + Seconds(std::isfinite(scenario_.faults.restart_s) ? scenario_.faults.restart_s : 0);
  }

  void NobodyMoves() {
    books_.errors.emplace_back("nobody moves any more, and the job has not ended");
    for (const std::string& where : processes_->WhereWorkersAre()) books_.errors.push_back(where);
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
    record.seconds =
        InSeconds(std::max(books_.over, books_.origin) - books_.origin);  // 0 if no iteration ended
    record.iterations = books_.steps.size();
    record.skipped = books_.workers.iterations_skipped;
    record.skipped_blocks = books_.workers.skipped_blocks;
    record.late_pulls = books_.workers.late_answers;
    record.withdrawn = cluster_.AnswersWithdrawn() + books_.lost_with_servers.withdrawn;
    record.overlap = books_.overlap.overlap().value_or(std::numeric_limits<double>::quiet_NaN());
    record.pace = PaceOf(books_.steps);
    CountTimes(record);
    CountServers(record);
    CountLoads(record);
    CountLead(record);
    record.messages = network_->counters().messages;
    record.events = cluster_.queue().events_run();
    record.bytes = network_->counters().bytes;
    record.curve = books_.curve;
    for (CurvePoint& point : record.curve) point.seconds -= InSeconds(books_.origin);
    FillTimeline(record);
    record.lag = LagOf(books_, scenario_.job.workers, scenario_.recording.map_columns, record.seconds);
    record.waits = WaitsOf(books_, scenario_.job.workers, scenario_.recording.map_columns, record.seconds);
    return record;
  }

  void CountTimes(RunRecord& record) const {
    Duration computed{}, waited{};
    record.workers.resize(scenario_.job.workers);
    for (const Step& step : books_.steps) {
      computed += step.ended - step.began;
      waited += step.began - step.asked;
      WorkerTimes& worker = record.workers[step.rank];
      ++worker.iterations;
      worker.compute_s += InSeconds(step.ended - step.began);
      worker.wait_s += InSeconds(step.began - step.asked);
      worker.ended_s = InSeconds(step.ended - books_.origin);
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
    for (const auto& [messages, sum_s] : message_times_)
      record.server_message_s.push_back(messages > 0 ? sum_s / static_cast<double>(messages) : 0);
    if (count == 0) return;
    const auto delayed = static_cast<double>(counters.delayed + books_.lost_with_servers.delayed);
    record.dprs = delayed * scenario_.job.servers / count;
    record.dprs_per_100 = record.dprs * 100.0 / IterationsOfAWorker();
  }

  void CountLosses(RunRecord& record) const {
    record.lost_workers = books_.lost_workers;
    record.lost_servers = books_.lost_servers;
    record.restores = books_.restores;
    if (scenario_.faults.plan.empty()) return;
    const HeldPushes::Lacking lacking = cluster_.scheduler().Lacking();
    record.lost_pushes = lacking.lost + lacking.torn;
  }

  void CountLoads(RunRecord& record) {
    // Later than the last gradient if a worker sleeps after it, or is lost.
    const double counted_s = InSeconds(cluster_.queue().now() - books_.origin);
    if (counted_s <= 0) return;
    for (std::uint32_t server = 0; server < scenario_.job.servers; ++server) {
      const sim::HostLoad load = network_->LoadOf(sim::Cluster::server_host(server));
      const double bytes = load.in.bytes + load.out.bytes;
      const double waited = load.in.waited_byte_s + load.out.waited_byte_s;
      record.servers.push_back(
          {.bytes_in = load.in.bytes,
           .bytes_out = load.out.bytes,
           .link_in_busy = InSeconds(load.in.busy) / counted_s,
           .link_out_busy = InSeconds(load.out.busy) / counted_s,
           .processor_busy = InSeconds(load.worked) / (counted_s * scenario_.job.shards),
           .queued_mean_s = bytes > 0 ? waited / bytes : 0,
           .queued_max_s = InSeconds(std::max(load.in.waited_max, load.out.waited_max))});
    }
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
      const IterationSpan span{step.rank,
                               step.iteration,
                               InSeconds(step.asked - books_.origin),
                               InSeconds(step.began - books_.origin),
                               InSeconds(step.ended - books_.origin),
                               InSeconds(step.first - books_.origin)};
      if (span.asked_s < to && span.ended_s > from) record.timeline.push_back(span);
    }
    std::ranges::sort(record.timeline, [](const IterationSpan& a, const IterationSpan& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.iteration < b.iteration;
    });
  }

  const Scenario& scenario_;
  problem::Problem& problem_;
  const std::uint64_t seed_;
  const std::uint32_t grain_;
  RunBooks books_;
  std::pair<std::size_t, std::uint32_t> stood_at_;  // steps and members at the last look
  std::uint64_t deaths_seen_ = 0;                   // when they last changed
  Duration moved_{0};
  std::array<std::uint64_t, kTimeBins> answers_{};  // by how long they took
  // Of each server: messages that workers sent to it, and their times together.
  std::vector<std::pair<std::uint64_t, double>> message_times_;
  sim::FlowNetwork* network_ = nullptr;      // the cluster's
  std::unique_ptr<sim::SharedCores> cores_;  // null: everyone has one
  std::unique_ptr<sim::Disk> checkpoints_;   // null: the job writes none
  std::unique_ptr<Processes> processes_;     // outlives the cluster, whose nodes use the workers' parameters
  sim::Cluster cluster_;
  Machines machines_;
  DisturbanceTimes disturbances_;
  std::unique_ptr<SyncSwitches> switches_;
};

}  // namespace

Result<RunRecord> RunScenario(const Scenario& scenario, const Registry<problem::Problem>& problems,
                              std::uint64_t seed, const std::function<bool(const RunProgress&)>& progress) {
  const Result<problem::ProblemPtr> made = problems.MakeFromSpec(scenario.problem);
  if (!made.ok()) return made.status().WithContext(KeyWithPlace(scenario, "training.problem"));
  const problem::ProblemPtr& problem = *made;
  LW_ASSIGN_OR_RETURN(std::vector<Disturbance> disturbances, DisturbancesOf(scenario));
  LW_ASSIGN_OR_RETURN(std::vector<SyncSwitch> switches, SyncSwitchesOf(scenario));
  ScenarioRun run(scenario, *problem, seed, std::move(disturbances), std::move(switches));
  return run.Go(progress);
}

}  // namespace leeway::scenario
