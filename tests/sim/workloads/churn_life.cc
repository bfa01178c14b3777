#include "sim/workloads/churn_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kLifeStream = 42, kStateStream = 46;

}  // namespace

ChurnLife::ChurnLife(Cluster& cluster, const ChurnPlan& plan, std::uint64_t seed, ChurnBooks& books,
                     std::uint32_t rank)
    : cluster_(cluster),
      plan_(plan),
      books_(books),
      rank_(rank),
      life_(static_cast<std::uint32_t>(books.lives[rank].size())),
      node_(cluster.worker(rank)),
      env_(cluster.worker_env(rank)),
      random_(Hash64({seed, kLifeStream, rank, life_})),
      state_random_(Hash64({seed, kStateStream, rank, life_})),
      habit_(DrawStateHabit(state_random_)) {
  books.lives[rank].emplace_back();
}

void ChurnLife::Begin() {
  node_.Join([this](const Status& status) {
    // The others may have ended the job while this life was starting.
    if (status.code() == StatusCode::kFailedPrecondition) return;
    Then("join", [this] { MakeTables(); })(status);
  });
}

std::string ChurnLife::Where() const {
  return fmt::format("worker {} life {} in iteration {}: {}; its node waits for: {}", rank_, life_,
                     node_.iteration().value(), at_, node_.WaitingFor());
}

bool ChurnLife::Failed(const Status& why, bool job_over) {
  fenced_ = why.code() == StatusCode::kFenced;
  done_ = !fenced_;
  // A life that came too late, or was stopped until the end, finds no peer.
  const bool too_late = why.code() == StatusCode::kFailedPrecondition && at_ == kJoining;
  // Or it learns at last that the others have ended the job.
  const bool slept = why.code() == StatusCode::kCancelled && book().stopped;
  return fenced_ || too_late || slept || (why.code() == StatusCode::kUnavailable && job_over);
}

// A failure of the node ends all its calls; Failed judges it.
Done ChurnLife::Then(const char* what, std::function<void()> next) {
  return [this, what, next = std::move(next)](const Status& status) {
    if (status.ok()) return next();
    if (status.code() == StatusCode::kFenced || status.code() == StatusCode::kUnavailable) return;
    // Stopped until the others had ended the job without it.
    if (status.code() == StatusCode::kCancelled && book().stopped) return;
    books_.problems.push_back(
        fmt::format("worker {} life {}: {}: {}", rank_, life_, what, status.ToString()));
  };
}

void ChurnLife::Watch() {
  node_.SetVerdictObserver([this](TableId table, BlockId block, Seq seq, Iteration, wire::Verdict verdict,
                                  Iteration) {
    if (verdict == wire::Verdict::kApplied || verdict == wire::Verdict::kSummed) {
      book().blocks[{table.value(), block}].taken.push_back(seq);
    } else if (verdict != wire::Verdict::kAbsent &&
               !(plan_.skips && verdict == wire::Verdict::kLateDropped)) {
      books_.problems.push_back(fmt::format("worker {} life {}: verdict {} for a good push in iteration {}",
                                            rank_, life_, static_cast<int>(verdict),
                                            node_.iteration().value()));
    }
  });
  node_.SetResumeObserver([this](TableId table, BlockId block, Term term, Seq last) {
    BlockBook& known = book().blocks[{table.value(), block}];
    const auto lost = std::erase_if(known.taken, [last](Seq seq) { return seq > last; });
    known.term = term;
    ++books_.counts.resumed;
    books_.counts.lost += lost;
  });
}

void ChurnLife::MakeTables() {
  at_ = "starting";
  if (node_.iteration() > Iteration(0)) ++books_.counts.joined_late;
  Watch();
  for (std::uint32_t table = 0; table < kChurnTables; ++table) {
    TableSpec spec;
    spec.name = fmt::format("table{}", table);
    spec.shape = {static_cast<std::int64_t>(plan_.cells() * (1 + table))};
    spec.optimizer = "sum";
    if (plan_.grouped) spec.group = table;
    if (table == kOwnClock) {
      spec.clock = TableClock::kOwn;
      spec.sync = "asp";
      spec.apply = "immediate";
    }
    pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
    const Result<TableId> made = node_.CreateTable(spec, *pairs_.back());
    if (!made.ok()) return books_.problems.push_back(made.status().ToString());
  }
  node_.Start(Then("start", [this] {
    NoteTerms();
    for (std::uint32_t table = 0; table < kChurnTables; ++table) {
      auto zeros = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
      const std::span<const float> values = *zeros;
      node_.Broadcast(TableId(table), values, std::move(zeros), Then("broadcast", [] {}));
    }
    Iterate();
  }));
}

// The worker begins with the blocks under their present terms, unless it resumes there.
void ChurnLife::NoteTerms() {
  std::uint32_t next = 0;
  for (std::uint32_t table = 0; table < kChurnTables; ++table) {
    for (std::uint32_t i = 0; i < 1 + table; ++i) {
      const BlockId id(next++);
      BlockBook& known = book().blocks[{table, id}];
      if (const Block* block = cluster_.FindBlock(id); block != nullptr && known.term == Term(0))
        known.term = block->term();
    }
  }
}

// The first life of the rank to reach the iteration sets the rule; training continues meanwhile.
void ChurnLife::SetRules() {
  for (std::size_t i = 0; i < plan_.switches.size(); ++i) {
    const DrawnSwitch& change = plan_.switches[i];
    if (change.rank != rank_ || node_.iteration().value() < change.step) continue;
    if (!books_.rules_set.insert(i).second) continue;
    ++books_.counts.rules_unanswered;
    node_.SetSync(change.rule, [this, &change](const Status& status, std::uint32_t tables) {
      if (status.ok() && tables > 0) {
        --books_.counts.rules_unanswered;
        ++books_.counts.rules_set;
        return;
      }
      // Its life may be over, or the job, or a server may be away for long.
      const StatusCode code = status.code();
      if (code == StatusCode::kFenced || code == StatusCode::kUnavailable || code == StatusCode::kCancelled ||
          code == StatusCode::kDeadlineExceeded || code == StatusCode::kFailedPrecondition)
        return;
      books_.problems.push_back(fmt::format("worker {} life {}: rule \"{}\" for {} tables: {}", rank_, life_,
                                            change.rule, tables, status.ToString()));
    });
  }
}

void ChurnLife::Iterate() {
  if (node_.iteration().value() >= plan_.iterations) return Leave();
  SetRules();
  at_ = "waiting for values";
  node_.Sync(TableId(0), Then("use", [this] { node_.Sync(TableId(1), Then("use", [this] { Compute(); })); }));
}

void ChurnLife::Compute() {
  at_ = "computing";
  for (const std::uint32_t table : {0U, 1U}) {
    while (!pairs_[table]->Take()) {
    }
  }
  (void)env_.timers.After(random_.Between(Duration::zero(), std::chrono::milliseconds(8)),
                          [this] { PushAll(); });
}

void ChurnLife::PushAll() {
  const bool skip = random_.Chance(0.1);  // one table has no gradient now and then
  std::optional<std::uint32_t> group;
  if (plan_.grouped) {
    // Two steps of the first optimizer, one of the second. With `skip` a gradient goes to the other table.
    group = node_.iteration().value() % 3 == 2 ? 1 : 0;
    Push(skip ? 1 - *group : *group);
  } else {
    Push(0);
    if (!skip) Push(1);
  }
  if (random_.Chance(0.3)) Push(kOwnClock);
  const Status ended = node_.Clock(group);
  if (!ended.ok()) return books_.problems.push_back(ended.ToString());
  if (habit_ != StateHabit::kSilent && node_.StateWanted()) {
    node_.GiveState(habit_ == StateHabit::kNone
                        ? std::make_shared<const std::vector<std::byte>>()
                        : ChurnState(rank_, node_.iteration(), state_random_.Below(20'000)));
  }
  // If the model skips iterations, not every life passes this one.
  if (plan_.skips || node_.iteration().value() % 16 != 0) return Iterate();
  at_ = "at a barrier";
  node_.Barrier("every16", Then("barrier", [this] { Iterate(); }));
}

void ChurnLife::Push(std::uint32_t table) {
  auto values = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
  for (std::size_t at = rank_ * kLivesMax + life_; at < values->size(); at += plan_.cells())
    (*values)[at] = 1.0F;
  LentGradient gradient;
  gradient.values = *values;
  gradient.pin = std::move(values);
  ++book().pushed[table];
  const Status pushed = table == kOwnClock
                            ? node_.Push(TableId(table), std::move(gradient), Then("push", [] {}))
                            : node_.Push(TableId(table), std::move(gradient), Then("push", [] {}));
  if (!pushed.ok()) books_.problems.push_back(pushed.ToString());
}

void ChurnLife::Leave() {
  at_ = "leaving";
  node_.Leave(Then("leave", [this] {
    at_ = "finishing";
    node_.Finish(Then("finish", [this] {
      node_.Shutdown(Then("shutdown", [this] {
        book().ended_well = true;
        ++books_.counts.left;
        at_ = "done";
        done_ = true;
      }));
    }));
  }));
}

}  // namespace leeway::sim
