#include "sim/workloads/ledger_worker.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kWorkloadStream = 31;

}  // namespace

LedgerWorker::LedgerWorker(Cluster& cluster, const LedgerPlan& plan, LedgerBook& book, std::uint32_t rank)
    : cluster_(cluster),
      plan_(plan),
      book_(book),
      rank_(rank),
      node_(cluster.worker(rank)),
      env_(cluster.worker_env(rank)),
      random_(Hash64({plan.options.seed, kWorkloadStream, rank})),
      own_pushed_(plan.tables.size(), 0),
      pulled_(plan.tables.size()),
      pulling_(plan.tables.size(), false) {}

std::string LedgerWorker::Where() const {
  return fmt::format("worker {} in iteration {} of {}: {}; its node waits for: {}", rank_, iteration_,
                     plan_.iterations[rank_], at_, node_.WaitingFor());
}

void LedgerWorker::After(Duration delay, std::function<void()> next) {
  (void)env_.timers.After(delay, std::move(next));
}

Done LedgerWorker::Then(const char* what, std::function<void()> next) {
  return [this, what, next = std::move(next)](const Status& status) {
    if (status.ok()) return next();
    book_.Problem(fmt::format("worker {}: {}: {}", rank_, what, status.ToString()));
  };
}

void LedgerWorker::Begin() {
  at_ = "joining";
  node_.Join(Then("join", [this] { MakeTables(); }));
}

void LedgerWorker::MakeTables() {
  if (node_.rank().value() != rank_)
    book_.Problem(fmt::format("worker {} got rank {}", rank_, node_.rank().value()));
  node_.SetVerdictObserver(
      [this](TableId table, BlockId block, Seq seq, Iteration iteration, wire::Verdict verdict,
             Iteration v_train) { book_.OnVerdict(rank_, table, block, seq, iteration, verdict, v_train); });
  for (const LedgerTable& table : plan_.tables) {
    pairs_.push_back(std::make_unique<ParameterPair>(table.spec.elements(), nullptr, nullptr));
    const Result<TableId> made = node_.CreateTable(table.spec, *pairs_.back());
    if (!made.ok()) return book_.Problem(fmt::format("worker {}: {}", rank_, made.status().ToString()));
  }
  at_ = "starting";
  node_.Start(Then("start", [this] { OfferValues(); }));
}

void LedgerWorker::OfferValues() {
  if (!book_.has_blocks()) book_.TakeBlocks([this](BlockId id) { return cluster_.FindBlock(id); });
  // A worker that pushes a table without having read it must know that it has values: here by its own offer,
  // which goes ahead of its pushes, or by a barrier after the offer of rank 0.
  const bool barrier = plan_.options.seed % 2 == 0;
  offers_left_ = 1;
  for (std::size_t table = 0; table < plan_.tables.size(); ++table) {
    const bool own_clock = plan_.tables[table].use == TableUse::kBursts;
    // The first offer counts, and all offers are equal.
    if (rank_ != 0 && (own_clock ? barrier : random_.Chance(0.5))) continue;
    auto zeros = std::make_shared<std::vector<float>>(plan_.tables[table].spec.elements(), 0.0F);
    const std::span<const float> values = *zeros;
    ++offers_left_;
    node_.Broadcast(TableId(static_cast<std::uint32_t>(table)), values, std::move(zeros),
                    Then("broadcast", [this, barrier] { Offered(barrier); }));
  }
  Offered(barrier);
  if (!barrier) Iterate();
}

void LedgerWorker::Offered(bool barrier) {
  if (--offers_left_ > 0 || !barrier) return;
  at_ = "at the barrier";
  node_.Barrier("values", Then("barrier", [this] { Iterate(); }));
}

void LedgerWorker::Iterate() {
  if (iteration_ == plan_.iterations[rank_]) return Leave();
  SetRules();
  at_ = "waiting for values";
  reads_left_ = 1;
  for (std::size_t table = 0; table < plan_.tables.size(); ++table) {
    if (!plan_.Uses(table, rank_, iteration_)) continue;
    ++reads_left_;
    node_.Sync(TableId(static_cast<std::uint32_t>(table)), Then("use", [this, table] {
                 while (!pairs_[table]->Take()) {
                 }
                 // The node's iteration, which may be later than the steps made: models may skip ahead.
                 book_.CheckRead(table, rank_, node_.iteration().value(), pairs_[table]->Read());
                 Read();
               }));
  }
  Read();
}

// Training continues meanwhile; a worker that sets a rule leaves once it is in force.
void LedgerWorker::SetRules() {
  for (const DrawnSwitch& change : plan_.switches) {
    if (change.rank != rank_ || change.step != iteration_) continue;
    ++rules_open_;
    node_.SetSync(change.rule, [this, &change](const Status& status, std::uint32_t tables) {
      --rules_open_;
      if (!status.ok() || tables == 0) {
        book_.Problem(fmt::format("worker {}: rule \"{}\" for {} tables: {}", rank_, change.rule, tables,
                                  status.ToString()));
      }
      if (leaving_) Leave();
    });
  }
}

void LedgerWorker::Read() {
  if (--reads_left_ > 0) return;
  at_ = "computing";
  After(plan_.ComputeTime(rank_, iteration_), [this] { PushTable(plan_.tables.size()); });
}

// The last table first, as a backward pass does, with some time between them.
void LedgerWorker::PushTable(std::size_t above) {
  while (above > 0 && !plan_.Uses(above - 1, rank_, iteration_)) --above;
  if (above == 0) return Clock();
  const std::size_t table = above - 1;
  const std::int64_t iteration = node_.iteration().value();
  book_.OnPush(table, rank_, iteration);
  Handed(table, iteration,
         node_.Push(TableId(static_cast<std::uint32_t>(table)), Gradient(table, iteration),
                    [this, table, iteration](const Status& status) {
                      book_.OnPushDone(table, rank_, iteration, status);
                    }));
  After(random_.Between(Duration::zero(), std::chrono::microseconds(300)),
        [this, table] { PushTable(table); });
}

LentGradient LedgerWorker::Gradient(std::size_t table, std::int64_t iteration) const {
  auto values = std::make_shared<std::vector<float>>(plan_.Gradient(table, rank_, iteration));
  LentGradient gradient;
  gradient.values = *values;
  gradient.pin = std::move(values);
  return gradient;
}

void LedgerWorker::Handed(std::size_t table, std::int64_t iteration, const Status& status) {
  if (status.ok()) return;
  book_.Problem(fmt::format("worker {}: push of table {} in iteration {}: {}", rank_, table, iteration,
                            status.ToString()));
}

void LedgerWorker::Clock() {
  const Status ended = node_.Clock(plan_.GroupOf(iteration_));
  if (!ended.ok())
    return book_.Problem(fmt::format("worker {}: end of iteration: {}", rank_, ended.ToString()));
  for (std::size_t table = 0; table < plan_.tables.size(); ++table) {
    if (plan_.tables[table].use != TableUse::kBursts) continue;
    ++bursts_open_;
    PushBursts(table, plan_.Burst(table, iteration_));
    PullBurst(table);
  }
  ++iteration_;
  Iterate();
}

void LedgerWorker::PushBursts(std::size_t table, std::uint32_t left) {
  if (left == 0) {
    --bursts_open_;
    if (leaving_) Leave();
    return;
  }
  const std::int64_t own = own_pushed_[table]++;
  book_.OnPush(table, rank_, own);
  Handed(
      table, own,
      node_.Push(TableId(static_cast<std::uint32_t>(table)), Gradient(table, own),
                 [this, table, own](const Status& status) { book_.OnPushDone(table, rank_, own, status); }));
  // All at once, or spread over times in which others advance the block.
  const Duration pause = random_.Chance(0.5)
                             ? Duration::zero()
                             : random_.Between(Duration::zero(), std::chrono::milliseconds(3));
  After(pause, [this, table, left] { PushBursts(table, left - 1); });
}

// Does not wait: others may push this table less often, and the worker would wait for them.
void LedgerWorker::PullBurst(std::size_t table) {
  if (pulling_[table] || !random_.Chance(0.3)) return;
  pulling_[table] = true;
  ++pulls_open_;
  pulled_[table].assign(plan_.tables[table].spec.elements(), -1.0F);
  const Status asked = node_.Pull(TableId(static_cast<std::uint32_t>(table)), pulled_[table],
                                  Then("pull", [this, table, own = own_pushed_[table]] {
                                    pulling_[table] = false;
                                    --pulls_open_;
                                    // A leaving worker is an observer, whose pulls wait for nobody.
                                    book_.CheckRead(table, rank_, leaving_ ? 0 : own, pulled_[table]);
                                  }));
  if (!asked.ok()) book_.Problem(fmt::format("worker {}: pull: {}", rank_, asked.ToString()));
}

void LedgerWorker::Leave() {
  at_ = "leaving";
  leaving_ = true;
  if (bursts_open_ > 0 || rules_open_ > 0) return;
  node_.Leave(Then("leave", [this] {
    at_ = "finishing";
    node_.Finish(Then("finish", [this] { Finish(); }));
  }));
}

void LedgerWorker::Finish() {
  for (std::size_t table = 0; table < plan_.tables.size(); ++table) {
    while (!pairs_[table]->Take()) {
    }
    book_.CheckFinal(table, rank_, pairs_[table]->Front(),
                     [this](BlockId id) { return cluster_.FindBlock(id); });
  }
  if (pulls_open_ > 0)
    book_.Problem(fmt::format("worker {}: {} pulls were never answered", rank_, pulls_open_));
  at_ = "shutting down";
  node_.Shutdown(Then("shutdown", [this] {
    at_ = "done";
    done_ = true;
  }));
}

}  // namespace leeway::sim
