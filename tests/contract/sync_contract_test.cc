// The contract of every synchronization model, over every example of every row.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"
#include "sync/sync_policy.h"
#include "sync_examples.h"

namespace leeway {
namespace {

std::vector<std::string> AllSyncSpecs() {
  std::vector<std::string> all;
  for (const auto& [name, specs] : SyncExamples()) all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

SyncPolicy MustSync(const std::string& spec) {
  Result<SyncPolicy> policy = MakeSyncPolicy(BuiltinSyncModels(), spec);
  EXPECT_TRUE(policy.ok()) << policy.status().ToString();
  return std::move(policy).value();
}

// Every apply mode that fits a sync model.
std::vector<std::string> ApplyModesFor(const std::string& sync) {
  const SyncPolicy policy = MustSync(sync);
  std::vector<std::string> fit;
  for (const char* apply : {"immediate", "aggregate", "aggregate:reduce=ordered"}) {
    if (MakeApplyMode(apply, *policy.model).ok()) fit.emplace_back(apply);
  }
  EXPECT_FALSE(fit.empty()) << sync;
  return fit;
}

// Workers that push, pull and wait for the answer as real ones do, in a seeded order of who moves next, each
// at its own pace; time goes on with every move, and to the block's next timer when nobody can move.
class PushingWorkers {
 public:
  PushingWorkers(const std::string& sync, const std::string& apply, std::uint32_t workers, std::uint64_t seed)
      : sync_(sync),
        rule_(MustSync(sync).model->ForWorker()),
        lead_(MustSync(sync).model->Lead()),
        block_({.sync = sync, .apply = apply}),
        state_(workers),
        random_(seed) {
    block_.Begin(workers);
  }
  HandFedBlock& block() { return block_; }
  const std::vector<std::string>& transcript() const { return transcript_; }

  // The worker does its next thing, unless it waits. Returns whether it did.
  bool Move(std::uint32_t w) {
    State& s = state_[w];
    if (s.gone || s.waits || s.iteration >= kIterations) return false;
    block_.now_ns += 1 + static_cast<std::int64_t>(draw(2000));
    const std::int64_t lead = s.iteration - block_->v_train().value();
    if (lead_ && !s.joined) {
      EXPECT_LE(lead, *lead_) << sync_ << ": worker " << w << " pushes iteration " << s.iteration
                              << " at v_train " << block_->v_train().value()
                              << ", further ahead than Lead() says";
    }
    if (draw(5) == 0) {
      block_.Absent(w, s.iteration);
    } else {
      block_.Push(w, s.iteration);
    }
    const std::string verdict = Listen(w);
    const bool late = verdict == "LATE_DROPPED" && rule_.skips_ahead;
    EXPECT_TRUE(late || verdict == "APPLIED" || verdict == "SUMMED" || verdict == "ABSENT") << verdict;
    s.waits = true;
    block_.Pull(w, s.iteration);
    Listen(w);
    s.iteration = std::max(s.iteration + 1, rule_.skips_ahead ? s.told : 0);
    return true;
  }
  // A new one, with the next rank.
  void Join() {
    const auto w = static_cast<std::uint32_t>(state_.size());
    state_.emplace_back().joined = true;
    block_.Join(w, 0).Roster();
    Listen(w);
    state_[w].iteration = block_->FirstOf(WorkerId(w)).value();
  }
  void Leave(std::uint32_t w) {
    state_[w].gone = true;
    block_.Leave(w).Roster();
    Listen(w);
  }
  // Until nobody can move, now or later.
  void RunToTheEnd() {
    for (int moves = 0; moves < 100'000; ++moves) {
      const auto start = draw(state_.size());
      bool moved = false;
      for (std::size_t i = 0; i < state_.size() && !moved; ++i) {
        moved = Move(static_cast<std::uint32_t>((start + i) % state_.size()));
      }
      if (!moved && !Wake()) return;
    }
    ADD_FAILURE() << "does not come to an end";
  }
  void RunMoves(int moves) {
    for (int i = 0; i < moves; ++i) Move(static_cast<std::uint32_t>(draw(state_.size())));
  }
  void ExpectAllDone(const std::string& what) const {
    for (std::size_t w = 0; w < state_.size(); ++w) {
      if (state_[w].gone) continue;
      EXPECT_GE(state_[w].iteration, kIterations) << what << ": worker " << w << " hangs";
      EXPECT_FALSE(state_[w].waits) << what << ": worker " << w << " waits for its last pull";
    }
  }
  static constexpr std::int64_t kIterations = 12;

 private:
  struct State {
    std::int64_t iteration = 0;
    std::int64_t told = 0;  // the highest v_train it heard of
    bool waits = false, gone = false;
    bool joined = false;  // begins one iteration beyond everybody
  };
  std::uint64_t draw(std::uint64_t n) { return (random_ = Mix64(random_)) % n; }
  // The block's timer fires, if it has one.
  bool Wake() {
    if (wake_ns_ < 0) return false;
    block_.now_ns = std::max(block_.now_ns, wake_ns_);
    wake_ns_ = -1;
    block_->OnTimer(block_.Now());
    Listen(0);
    return true;
  }
  // Notes the answered workers; returns the verdict that worker w got, if any.
  std::string Listen(std::uint32_t w) {
    std::string verdict;
    for (const std::string& line : block_.Heard()) {
      transcript_.push_back(line);
      const std::string word = line.substr(0, line.find(' '));
      const auto number = std::stoll(line.substr(line.find(' ') + 1));
      if (word == "WAKE") {
        wake_ns_ = number;
        continue;
      }
      State& told = state_[static_cast<std::size_t>(number)];
      told.told = std::max<std::int64_t>(told.told, std::stoll(line.substr(line.find(" v") + 2)));
      if (word == "ANSWER" || word == "UNCHANGED") {
        told.waits = false;
      } else if (static_cast<std::uint32_t>(number) == w) {
        verdict = word;
      }
    }
    return verdict;
  }

  const std::string sync_;
  const WorkerRule rule_;
  const std::optional<std::int64_t> lead_;
  HandFedBlock block_;
  std::vector<State> state_;
  std::uint64_t random_;
  std::int64_t wake_ns_ = -1;
  std::vector<std::string> transcript_;
};

// Calls `check` with every example, apply mode and seed.
template <typename Check>
void OverEverySyncModel(const Check& check) {
  for (const std::string& sync : AllSyncSpecs()) {
    for (const std::string& apply : ApplyModesFor(sync)) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) check(sync, apply, seed);
    }
  }
}

TEST(SyncContractTest, EveryPullIsAnsweredInTheEndIfEveryoneKeepsPushing) {
  OverEverySyncModel([](const std::string& sync, const std::string& apply, std::uint64_t seed) {
    PushingWorkers job(sync, apply, 5, seed);
    job.RunToTheEnd();
    job.ExpectAllDone(sync + " " + apply);
    EXPECT_EQ(job.block()->v_train(), Iteration(PushingWorkers::kIterations)) << sync << " " << apply;
    EXPECT_EQ(job.block()->waiting(), 0U);
  });
}

TEST(SyncContractTest, MembersThatLeaveAtAnyPointHoldNobody) {
  OverEverySyncModel([](const std::string& sync, const std::string& apply, std::uint64_t seed) {
    PushingWorkers job(sync, apply, 5, seed);
    job.RunMoves(static_cast<int>(seed * 2));
    job.Leave(static_cast<std::uint32_t>(seed % 5));
    job.RunMoves(static_cast<int>(seed));
    job.Leave(static_cast<std::uint32_t>((seed + 2) % 5));
    job.RunToTheEnd();
    job.ExpectAllDone(sync + " " + apply);
    for (std::uint32_t w = 0; w < 5; ++w) job.Leave(w);
    EXPECT_EQ(job.block()->waiting(), 0U);
  });
}

TEST(SyncContractTest, AllButOneMayLeaveAtOnceAndTheOneGoesOn) {
  OverEverySyncModel([](const std::string& sync, const std::string& apply, std::uint64_t seed) {
    PushingWorkers job(sync, apply, 5, seed);
    job.RunMoves(static_cast<int>(seed * 2));
    for (std::uint32_t w = 0; w < 4; ++w) job.Leave((w + static_cast<std::uint32_t>(seed)) % 5);
    job.RunToTheEnd();
    job.ExpectAllDone(sync + " " + apply);
  });
}

TEST(SyncContractTest, MembersThatJoinAtAnyPointHoldNobody) {
  OverEverySyncModel([](const std::string& sync, const std::string& apply, std::uint64_t seed) {
    PushingWorkers job(sync, apply, 3, seed);
    job.RunMoves(static_cast<int>(seed * 2));
    job.Join();
    job.RunMoves(static_cast<int>(seed));
    job.Leave(static_cast<std::uint32_t>(seed % 3));
    job.Join();
    job.RunToTheEnd();
    job.ExpectAllDone(sync + " " + apply);
    EXPECT_EQ(job.block()->waiting(), 0U);
  });
}

TEST(SyncContractTest, TheSameEventsGetTheSameWords) {
  for (const std::string& sync : AllSyncSpecs()) {
    for (const std::string& apply : ApplyModesFor(sync)) {
      PushingWorkers first(sync, apply, 4, 5), second(sync, apply, 4, 5);
      first.RunToTheEnd();
      second.RunToTheEnd();
      EXPECT_GT(first.transcript().size(), 30U) << sync;
      EXPECT_EQ(first.transcript(), second.transcript()) << sync << " " << apply;
      EXPECT_EQ(first.block().values(), second.block().values()) << sync << " " << apply;
    }
  }
}

TEST(SyncContractTest, TheDefaultApplyModeFitsTheModel) {
  for (const std::string& sync : AllSyncSpecs()) {
    EXPECT_TRUE(MakeApplyMode("", *MustSync(sync).model).ok()) << sync;
  }
}

TEST(SyncContractTest, TheResolvedSpecMakesAnEqualModel) {
  for (const std::string& sync : AllSyncSpecs()) {
    const SyncPolicy policy = MustSync(sync);
    SpecTerm term = policy.resolved;
    std::erase_if(term.args, [](const SpecArg& arg) { return arg.key == "late" && arg.value.empty(); });
    const SyncPolicy again = MustSync(PrintSpec({{term}}));
    EXPECT_EQ(again.resolved, policy.resolved) << sync;
    EXPECT_EQ(again.model->PullCondition(), policy.model->PullCondition()) << sync;
    EXPECT_EQ(again.model->PushCondition(), policy.model->PushCondition()) << sync;
  }
}

TEST(SyncContractTest, ConditionsAreSaidInWords) {
  for (const std::string& sync : AllSyncSpecs()) {
    const SyncPolicy policy = MustSync(sync);
    EXPECT_FALSE(policy.model->PullCondition().empty()) << sync;
    EXPECT_FALSE(policy.model->PushCondition().empty()) << sync;
    EXPECT_GE(policy.model->WorkersNeeded(), 1U) << sync;
  }
}

}  // namespace
}  // namespace leeway
