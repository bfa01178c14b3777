#include "scenario/simulated_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "problem/compute_shares.h"
#include "sim/nanoseconds.h"

namespace leeway::scenario {
namespace {

// The uses of the run's seed.
enum Use : std::uint64_t { kComputeTimes = 11, kBatches, kFirstValues };

std::vector<std::span<float>> SpansOf(std::vector<std::vector<float>>& tables) {
  std::vector<std::span<float>> spans;
  spans.reserve(tables.size());
  for (std::vector<float>& table : tables) spans.emplace_back(table);
  return spans;
}

double RateAt(const RateSchedule& schedule, std::uint64_t iteration) {
  double rate = schedule.rate;
  for (const std::uint64_t at : schedule.at) {
    if (iteration >= at) rate *= schedule.factor;
  }
  return rate;
}

// The share of the compute time after which the forward pass is done with each table. Empty: it needs all of
// them at the beginning.
std::vector<double> UsedShares(const std::vector<problem::Table>& tables, const ComputeModel& compute) {
  if (compute.forward_share <= 0) return {};
  std::vector<double> shares = problem::ComputeSharesOf(tables, compute.forward_share).forward;
  std::partial_sum(shares.begin(), shares.end(), shares.begin());
  return shares;
}

// The weights of the parts of the backward pass.
std::vector<double> WorkOfTables(const std::vector<problem::Table>& tables, const ComputeModel& compute) {
  if (compute.forward_share > 0) return problem::ComputeSharesOf(tables, compute.forward_share).backward;
  std::vector<double> elements;
  for (const problem::Table& table : tables) elements.push_back(static_cast<double>(table.elements()));
  return elements;
}

// The share of the compute time after which the gradient of each table is ready. From the last table on, each
// takes a part of the backward pass in proportion to its work, unless it was measured.
std::vector<double> ReadyShares(const std::vector<problem::Table>& tables, const ComputeModel& compute) {
  if (compute.ready.size() == tables.size()) {
    std::vector<double> shares = compute.ready;
    // No table is ready before one that is pushed earlier.
    for (std::size_t i = shares.size(); i-- > 1;) shares[i - 1] = std::max(shares[i - 1], shares[i]);
    return shares;
  }
  const std::vector<double> work = WorkOfTables(tables, compute);
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<double> shares(tables.size());
  double behind = 0;
  for (std::size_t i = tables.size(); i-- > 0;) {
    behind += work[i];
    shares[i] = 1.0 - compute.backward_share * (1.0 - behind / all);
  }
  return shares;
}

}  // namespace

SimulatedWorker::SimulatedWorker(sim::Cluster& cluster, const Machines& machines, const Scenario& scenario,
                                 problem::Problem& problem, RunBooks& books, std::uint64_t seed,
                                 std::uint32_t rank, MayEnd may_end)
    : cluster_(cluster),
      machines_(machines),
      scenario_(scenario),
      problem_(problem),
      books_(books),
      seed_(seed),
      rank_(rank),
      node_(cluster.worker(rank)),
      env_(cluster.worker_env(rank)),
      compute_time_(scenario.compute, problem.batch(), Hash64({seed, kComputeTimes}), rank),
      used_share_(UsedShares(problem.tables(), scenario.compute)),
      ready_share_(ReadyShares(problem.tables(), scenario.compute)),
      may_end_(std::move(may_end)) {
  for (const auto& [whose, factor] : scenario.compute.slowed) {
    if (whose == rank) slowed_ *= factor;
  }
}

Done SimulatedWorker::Then(std::function<void()> next) {
  return [this, next = std::move(next)](const Status& status) {
    if (Ok(status)) next();
  };
}

bool SimulatedWorker::Ok(const Status& status) {
  if (!status.ok() && !may_end_(status))
    books_.errors.push_back(fmt::format("worker {}: {}", rank_, status.ToString()));
  return status.ok();
}

std::string SimulatedWorker::Where() const {
  return fmt::format("worker {} in iteration {} waits for: {}", rank_, node_.iteration().value(),
                     node_.WaitingFor());
}

void SimulatedWorker::Begin(bool comes_late) {
  comes_late_ = comes_late;
  node_.Join(Then([this] { MakeTables(); }));
}

void SimulatedWorker::CloseBooks() {
  if (!has_left_) CountOwn();
  SetComputing(false);
  if (is_in_iteration_) --books_.drawn;  // another worker draws it again
  if (has_left_ && !is_done_) --books_.present;
}

void SimulatedWorker::CountOwn() {
  const WorkerCounters& counters = node_.counters();
  for (std::size_t i = 0; i < counters.lead.size(); ++i) {
    books_.workers.lead[i] += counters.lead[i];
  }
  books_.workers.iterations_skipped += counters.iterations_skipped;
  books_.workers.skipped_blocks += counters.skipped_blocks;
  books_.workers.late_answers += counters.late_answers;
  books_.overlap += node_.overlap().Total(env_.clock.Now());
}

void SimulatedWorker::MakeTables() {
  for (const problem::Table& table : problem_.tables()) {
    TableSpec spec;
    spec.name = table.name;
    spec.shape = table.shape;
    spec.optimizer = scenario_.optimizer;
    pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
    if (!Ok(node_.CreateTable(spec, *pairs_.back()).status())) return;
  }
  node_.Start(Then([this] { OfferValues(); }));
}

void SimulatedWorker::OfferValues() {
  auto first = std::make_shared<std::vector<std::vector<float>>>();
  for (const auto& pair : pairs_) first->emplace_back(pair->elements());
  // All workers offer the same values: the scheduler chooses the rank whose values are taken.
  problem_.Begin(Hash64({seed_, kFirstValues}), SpansOf(*first));
  auto left = std::make_shared<std::size_t>(pairs_.size());
  for (std::size_t table = 0; table < pairs_.size(); ++table) {
    node_.Broadcast(TableId(static_cast<std::uint32_t>(table)), (*first)[table], first, Then([this, left] {
                      // All workers begin together, because a scenario measures training, not the start of a
                      // job.
                      if (--*left == 0 && !comes_late_) node_.Barrier("begin", Then([this] { Ask(); }));
                    }));
  }
  if (comes_late_) Ask();
}

void SimulatedWorker::Ask() {
  const auto iteration = static_cast<std::uint64_t>(node_.iteration().value());
  asked_ = Now();
  if (books_.origin == Duration::max()) {
    books_.origin = asked_;
    if (books_.begun) books_.begun();
  }
  if (scenario_.pool > 0 ? books_.drawn >= scenario_.pool : iteration >= scenario_.iterations) return Leave();
  ++books_.drawn;
  is_in_iteration_ = true;
  used_ = 0;
  if (used_share_.empty()) return UseTables();
  BeginComputing();
  waited_ = Duration(0);
  UseNext();
}

// The forward pass, table by table: each waits for its own values, and is computed.
void SimulatedWorker::UseNext() {
  if (used_ == pairs_.size()) return EndForward();
  const Duration wanted = Now();
  SetComputing(false);
  node_.Sync(TableId(static_cast<std::uint32_t>(used_)), [this, wanted](const Status& status) {
    if (!Ok(status)) return;
    SetComputing(true);
    (void)pairs_[used_]->Take();
    waited_ += Now() - wanted;
    if (used_ == 0) first_ = Now();
    ComputeUntil(used_share_[used_++], [this] { UseNext(); });
  });
}

// Computing and waiting alternate in a step. The books put all waits first.
void SimulatedWorker::EndForward() {
  began_ = asked_ + waited_;
  ComputeGradientAndPush();
}

// In the order of a forward pass. Sync calls back at once for a table that is ready.
void SimulatedWorker::UseTables() {
  if (std::exchange(using_, true)) return;
  while (used_ < pairs_.size()) {
    const std::size_t at = used_;
    node_.Sync(TableId(static_cast<std::uint32_t>(at)), [this](const Status& status) {
      if (!Ok(status)) return;
      (void)pairs_[used_]->Take();
      if (used_++ == 0) first_ = Now();
      UseTables();
    });
    if (used_ == at) {
      using_ = false;
      return;
    }
  }
  using_ = false;
  Compute();
}

void SimulatedWorker::JudgeIfDue() {
  // Any worker judges that begins an iteration when it is due: rank 0 may be done long before the others. The
  // fewer workers are left, the fewer steps lie between judgements.
  const std::uint64_t every = scenario_.recording.judge_every * std::max<std::uint64_t>(books_.training, 1);
  const std::uint64_t steps = books_.steps.size();
  const bool is_first = books_.curve.empty();
  if (every == 0 || (!is_first && steps < books_.judged_at + every)) return;
  if (!is_first) books_.judged_at += (steps - books_.judged_at) / every * every;
  const problem::Judgement judged = Judge();
  books_.curve.push_back({std::chrono::duration<double>(Now()).count(), steps / scenario_.job.workers,
                          judged.loss, judged.accuracy});
}

problem::Judgement SimulatedWorker::Judge() { return problem_.Judge(Fronts()); }

std::vector<std::span<const float>> SimulatedWorker::Fronts() const {
  std::vector<std::span<const float>> values;
  values.reserve(pairs_.size());
  for (const auto& pair : pairs_) values.push_back(pair->Front());
  return values;
}

std::shared_ptr<SimulatedWorker::Gradient> SimulatedWorker::FreeGradient() {
  for (const auto& gradient : gradients_) {
    if (gradient.use_count() == 1) return gradient;
  }
  auto gradient = std::make_shared<Gradient>();
  for (const auto& pair : pairs_) gradient->values.emplace_back(pair->elements());
  gradients_.push_back(gradient);
  return gradient;
}

void SimulatedWorker::Compute() {
  BeginComputing();
  ComputeGradientAndPush();
}

void SimulatedWorker::SetComputing(bool computes) {
  if (computes && !is_computing_) ++books_.computing;
  if (!computes && is_computing_) --books_.computing;
  is_computing_ = computes;
}

void SimulatedWorker::BeginComputing() {
  SetComputing(true);
  const auto iteration = static_cast<std::uint64_t>(node_.iteration().value());
  began_ = Now();
  takes_ = compute_time_.Of(iteration);
  if (const double times = machines_.WorkOf(rank_); times != 1)
    takes_ = sim::Nanoseconds(static_cast<double>(takes_.count()) * times);
  books_.longest = std::max(books_.longest, takes_);
  done_share_ = 0;
}

void SimulatedWorker::ComputeGradientAndPush() {
  JudgeIfDue();
  ComputeGradient(static_cast<std::uint64_t>(node_.iteration().value()));
  if (scenario_.compute.elsewhere_s <= 0) return PushFrom(pairs_.size());
  const Duration elsewhere = sim::SecondsAsDuration(scenario_.compute.elsewhere_s);
  (void)env_.timers.After(elsewhere, [this] { PushFrom(pairs_.size()); });
}

void SimulatedWorker::ComputeGradient(std::uint64_t iteration) {
  if (!problem_.FixedGradient().empty()) return;
  gradient_ = FreeGradient();
  (void)problem_.Gradient({Hash64({seed_, kBatches}), rank_, iteration}, Fronts(),
                          SpansOf(gradient_->values));
}

void SimulatedWorker::ComputeUntil(double share, std::function<void()> next) {
  const double part = std::max(0.0, share - done_share_);
  done_share_ = std::max(done_share_, share);
  const Duration takes = sim::Nanoseconds(static_cast<double>(takes_.count()) * part);
  auto go_on = [lives = std::weak_ptr(lives_), next = std::move(next)] {
    if (!lives.expired()) next();
  };
  if (sim::SharedCores* const cores = machines_.cores()) return cores->Run(takes, std::move(go_on));
  cluster_.queue().At(Now() + takes, std::move(go_on));
}

// Waits until the table below `above` is ready, pushes it and all other ready ones, and continues.
void SimulatedWorker::PushFrom(std::size_t above) {
  if (above > 0) return ComputeUntil(ready_share_[above - 1], [this, above] { PushReady(above); });
  ComputeUntil(1.0, [this] { SleepIfSlowed(); });
}

void SimulatedWorker::PushReady(std::size_t above) {
  node_.BeginCalls();
  std::size_t left = above;
  while (left > 0 && ready_share_[left - 1] <= done_share_ && Push(left - 1)) --left;
  const bool at_end = left == 0 && done_share_ >= 1.0 && slowed_ <= 1;
  if (at_end) Clock();  // with the last pushes: one turn of the node
  node_.EndCalls();
  if (!books_.errors.empty()) return;
  if (at_end) return Ask();
  PushFrom(left);
}

void SimulatedWorker::SleepIfSlowed() {
  const auto computed = static_cast<double>((Now() - began_).count());
  const Duration pause = sim::Nanoseconds(computed * (slowed_ - 1));
  (void)env_.timers.After(pause, [this] {
    node_.BeginCalls();
    Clock();
    node_.EndCalls();
    if (books_.errors.empty()) Ask();
  });
}

bool SimulatedWorker::Push(std::size_t table) {
  LentGradient lent;
  if (gradient_ != nullptr) {
    lent.values = gradient_->values[table];
    lent.pin = gradient_;
  } else {
    lent.values = problem_.FixedGradient()[table];  // the problem outlives the run, so nothing is pinned
  }
  lent.samples = problem_.batch();
  lent.hyper = scenario_.hyper;
  lent.hyper.lr =
      static_cast<float>(RateAt(scenario_.rate, static_cast<std::uint64_t>(node_.iteration().value())));
  return Ok(node_.Push(TableId(static_cast<std::uint32_t>(table)), std::move(lent),
                       [this](const Status& status) { (void)Ok(status); }));
}

void SimulatedWorker::Clock() {
  SetComputing(false);
  is_in_iteration_ = false;
  books_.steps.push_back(
      {rank_, static_cast<std::uint32_t>(node_.iteration().value()), asked_, began_, Now(), first_});
  books_.over = std::max(books_.over, Now());
  gradient_.reset();
  (void)Ok(node_.Clock());
}

void SimulatedWorker::Leave() {
  has_left_ = true;
  --books_.training;
  CountOwn();
  node_.Leave(Then([this] {
    node_.Finish(Then([this] {
      // All have the same values now. Rank 0 may be lost.
      const bool is_first = !scenario_.faults.plan.empty() && std::isnan(books_.loss);
      if (rank_ == 0 || is_first) {
        for (const auto& pair : pairs_) (void)pair->Take();
        const problem::Judgement judged = Judge();
        books_.loss = judged.loss;
        books_.accuracy = judged.accuracy;
      }
      node_.Shutdown(Then([this] {
        is_done_ = true;
        --books_.present;
      }));
    }));
  }));
}

}  // namespace leeway::scenario
