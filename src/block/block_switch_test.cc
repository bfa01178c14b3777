// Another model while training runs: waiting pulls, open sums, pushes beyond the window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"
#include "block/testing/model_examples.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BlockSwitchTest, WaitingPullsAreAskedAgainAndAreTheSameDelayedPulls) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(3);
  for (int i = 0; i < 4; ++i) block.Push(0, i);
  for (int i = 0; i < 2; ++i) block.Push(1, i);
  block.Pull(0, 3);
  block.Pull(1, 1);
  block.Forget();
  block.Switch("ssp:1");
  EXPECT_THAT(block.Heard(), IsEmpty()) << "3 and 1 are not below 0 + 1";
  block.Switch("ssp:2");
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 1 p1 v0 r7"));
  EXPECT_EQ(block->waiting(), 1U);
  block.Switch("asp");
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p3 v0 r7"));
  EXPECT_EQ(block->counters().delayed, 2U);
  EXPECT_EQ(block->counters().switches, 3U);
}

TEST(BlockSwitchTest, AStricterModelKeepsWhoWaitsAndLetsItGoAsItSays) {
  HandFedBlock block({.sync = "ssp:2,release=soft", .apply = "immediate"});
  block.Begin(2);
  for (int i = 0; i < 3; ++i) block.Push(0, i);
  block.Pull(0, 2);
  block.Switch("bsp", "immediate");
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 1#1 v1")) << "soft would have answered now";
  block.Push(1, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 1#2 v3", "ANSWER 0 p2 v3 r6"));
}

TEST(BlockSwitchTest, WhatASwitchLetsAdvanceIsReleasedAsTheNewModelSays) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(3);
  for (int i = 0; i < 3; ++i) block.Push(0, i);
  block.Pull(0, 2);
  block.Push(1, 0);
  block.Forget();
  block.Switch("drop:2,release=soft", "immediate");
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p2 v1 r5")) << "soft: with the advance, though 2 >= 1";
}

TEST(BlockSwitchTest, TheCoinsAreThoseOfTheNewSeed) {
  const auto words = [](HandFedBlock& block) {
    block.Begin(2);
    block.Push(0, 99);
    std::vector<std::size_t> answers;
    for (int progress = 0; progress < 100; ++progress) {
      block.Forget();
      block.Pull(0, progress);
      answers.push_back(block.Heard().size());
    }
    return answers;
  };
  HandFedBlock made({.sync = "pssp:0,0.5", .coin_seed = 9}), other({.sync = "pssp:0,0.5", .coin_seed = 1});
  HandFedBlock switched({.sync = "asp", .coin_seed = 1});
  switched.Switch("pssp:0,0.5", "", {}, 9);
  const std::vector<std::size_t> wanted = words(made);
  EXPECT_EQ(words(switched), wanted);
  EXPECT_NE(words(other), wanted);
}

// Goes on when `n` contributions are in.
class FirstOfAll final : public SyncModel {
 public:
  explicit FirstOfAll(std::uint32_t n) : n_(n) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    return view.CountAt(view.v_train) >= n_ ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "count >= n"; }

 private:
  const std::uint32_t n_;
};

TEST(BlockSwitchTest, AModelThatNeedsFewerAdvancesAtOnce) {
  HandFedBlock block({.optimizer = "sgd"});
  block.Begin(4);
  block.Push(0, 0, {4, 8});
  block.Push(1, 0, {4, 8});
  block.Pull(1, 0);
  block.Forget();
  block.Switch("bsp", "", std::make_unique<FirstOfAll>(2));
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 1 p0 v1 r2"));
  EXPECT_THAT(block.values(), ElementsAre(-2.0F, -4.0F)) << "mean (4, 8), d / N = 2 / 4";
}

TEST(BlockSwitchTest, FromAggregateToImmediateEveryOpenSumIsAppliedWithItsShare) {
  HandFedBlock block({.sync = "ssp:1", .apply = "aggregate", .optimizer = "sgd"});
  block.Begin(4);
  block.Push(0, 0, {4, 0});
  block.Push(1, 0, {8, 0});
  block.Push(0, 1, {0, 4});
  EXPECT_THAT(block.values(), ElementsAre(0.0F, 0.0F));
  block.Forget();
  block.Switch("ssp:1", "immediate");
  EXPECT_THAT(block.values(), ElementsAre(-3.0F, -1.0F)) << "6 * 2 / 4, and 4 * 1 / 4";
  EXPECT_EQ(block->version(), Version(3)) << "one run for each open iteration";
  EXPECT_FALSE(block->aggregates());
  EXPECT_THAT(block->Save().sums, IsEmpty());
  block.Push(2, 0, {4, 4});
  EXPECT_THAT(block.values(), ElementsAre(-4.0F, -2.0F));
  block.Push(3, 0, {4, 4});
  EXPECT_EQ(block->v_train(), Iteration(1)) << "what was summed before counts for its iteration";
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 2#1 v0", "APPLIED 3#1 v1"));
}

TEST(BlockSwitchTest, FromImmediateToAggregateNothingIsOpen) {
  HandFedBlock block({.sync = "asp", .optimizer = "sgd"});
  block.Begin(2);
  block.Push(0, 0, {4, 4});
  block.Switch("bsp");
  EXPECT_THAT(block.values(), ElementsAre(-2.0F, -2.0F));
  EXPECT_TRUE(block->aggregates());
  block.Forget();
  block.Push(1, 0, {4, 4});
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1"));
  EXPECT_THAT(block.values(), ElementsAre(-4.0F, -4.0F)) << "d / N = 1 / 2: the other was applied before";
}

TEST(BlockSwitchTest, AWiderWindowOpensForThoseWhoWaitForIt) {
  for (const char* to : {"aggregate:window=4", "immediate"}) {
    HandFedBlock block;
    block.Begin(2);
    block.Push(0, 0);
    block.Push(0, 1);
    const PushEvent beyond = block.NextPush(0, 2);
    block.Feed(beyond, {1, 1});
    EXPECT_EQ(block.Heard().back(), "WINDOW 0#3 v0");
    block.Switch("bsp", to);
    EXPECT_THAT(block.Heard(), ElementsAre("OPEN 0#3 v0")) << to;
    block.Feed(beyond, {1, 1});
    EXPECT_THAT(block.Heard().back(), ::testing::EndsWith("0#3 v0"));
    for (int i = 0; i < 3; ++i) block.Push(1, i);
    EXPECT_THAT(block.values(), ElementsAre(6.0F, 6.0F)) << to;
  }
}

TEST(BlockSwitchTest, ANarrowerWindowKeepsWhatIsOpenBeyondIt) {
  HandFedBlock block({.sync = "ssp:3", .apply = "aggregate"});
  block.Begin(2);
  for (int i = 0; i < 5; ++i) block.Push(0, i);
  block.Switch("bsp");
  block.Forget();
  block.Push(0, 5);
  EXPECT_THAT(block.Heard(), ElementsAre("WINDOW 0#6 v0"));
  for (int i = 0; i < 5; ++i) block.Push(1, i);
  EXPECT_EQ(block->v_train(), Iteration(5));
  EXPECT_THAT(block.values(), ElementsAre(10.0F, 10.0F));
}

TEST(BlockSwitchTest, TheOrderOfSummingMayChangeWhileASumIsOpen) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"aggregate", "aggregate:reduce=ordered"}, {"aggregate:reduce=ordered", "aggregate"}}) {
    HandFedBlock block({.apply = from});
    block.Begin(3);
    block.Push(2, 0, {1, 2});
    block.Push(1, 0, {3, 4});
    block.Switch("bsp", to);
    block.Push(0, 0, {5, 6});
    EXPECT_THAT(block.values(), ElementsAre(9.0F, 12.0F)) << from << " to " << to;
  }
}

TEST(BlockSwitchTest, LateFollowsTheSwitch) {
  HandFedBlock block({.model = std::make_unique<FirstOfAll>(1)});
  block.Begin(2);
  block.Push(0, 0);
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 1#1 v1"));
  block.Switch("bsp:late=apply", "", std::make_unique<FirstOfAll>(1));
  block.Push(0, 1);
  block.Forget();
  block.Push(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#2 v2"));
  block.Push(0, 2);
  EXPECT_THAT(block.values(), ElementsAre(4.0F, 4.0F));
  EXPECT_EQ(block->counters().late_dropped, 1U);
  EXPECT_EQ(block->counters().late_applied, 1U);
}

// Says no and writes its name into the block's memory.
class Remembers final : public SyncModel {
 public:
  explicit Remembers(std::vector<std::string>& found) : found_(found) {}
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView&, Memory& memory) const override {
    found_.push_back(memory);
    memory = "mine";
    return Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "never"; }
  std::string PushCondition() const override { return "never"; }

 private:
  std::vector<std::string>& found_;
};

TEST(BlockSwitchTest, TheMemoryIsForgottenWhenItIsAnotherModel) {
  std::vector<std::string> found;
  HandFedBlock block({.sync = "ssp:1", .model = std::make_unique<Remembers>(found)});
  block.Begin(2);
  block.Push(0, 0);
  block.Switch("ssp:1,release=soft", "", std::make_unique<Remembers>(found));
  block.Switch("ssp:2", "", std::make_unique<Remembers>(found));
  EXPECT_THAT(found, ElementsAre("", "mine", ""));
}

// Workers that push, wait for OPEN where they must, pull, and go on when they are answered. Every push adds 1
// to its worker's own cell, so that at the end a cell is how many of its pushes were taken.
class SwitchedWorkers {
 public:
  static constexpr std::uint32_t kWorkers = 4;
  static constexpr std::int64_t kIterations = 8;

  SwitchedWorkers(const std::string& sync, std::uint64_t seed)
      : random_(seed), block_({.sync = sync, .apply = Draw(FittingApplyModes(sync)), .elements = kWorkers}) {
    block_.Begin(kWorkers);
    Note(sync);
  }

  void Switch(const std::string& sync) {
    block_.Switch(sync, Draw(FittingApplyModes(sync)));
    Note(sync);
    Listen();
  }
  void RunMoves(std::uint64_t moves) {
    for (std::uint64_t i = 0; i < moves; ++i) Move(static_cast<std::uint32_t>(Draw(kWorkers)));
  }
  void Leave(std::uint32_t worker) {
    state_[worker].gone = true;
    block_.Leave(worker).Roster();
    Listen();
  }
  void RunToTheEnd() {
    for (int moves = 0; moves < 10'000; ++moves) {
      const std::uint64_t start = Draw(kWorkers);
      bool moved = false;
      for (std::uint32_t i = 0; i < kWorkers && !moved; ++i)
        moved = Move(static_cast<std::uint32_t>((start + i) % kWorkers));
      if (moved) continue;
      if (!wake_) return;
      block_.now_ns = std::max(block_.now_ns, *std::exchange(wake_, std::nullopt));
      block_->OnTimer(block_.Now());
      Listen();
    }
    ADD_FAILURE() << "does not come to an end";
  }
  void ExpectNothingHangsOrIsLost(const std::string& what) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      EXPECT_TRUE(state_[w].gone || state_[w].iteration >= kIterations)
          << what << ": worker " << w << " hangs in iteration " << state_[w].iteration << "; "
          << block_->WhyWaiting();
    }
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      if (!state_[w].gone) Leave(w);
    }
    EXPECT_EQ(block_->waiting(), 0U) << what;
    EXPECT_EQ(block_->v_train(), Iteration(highest_sent_ + 1)) << what;
    std::vector<float> taken(kWorkers);
    for (const auto& [worker, seq] : taken_) taken[worker] += 1.0F;
    EXPECT_EQ(block_.values(), taken) << what;
  }

 private:
  enum class Waits : std::uint8_t { kForNothing, kForOpen, kForAnswer };
  struct State {
    std::int64_t iteration = 0;
    Waits waits = Waits::kForNothing;
    std::optional<PushEvent> held{};  // got WINDOW
    bool gone = false;
  };

  bool Move(std::uint32_t w) {
    State& s = state_[w];
    if (s.gone || s.waits != Waits::kForNothing || s.iteration >= kIterations) return false;
    block_.now_ns += static_cast<std::int64_t>(Draw(2000));
    if (!s.held && Draw(6) == 0) {
      highest_sent_ = std::max(highest_sent_, s.iteration);
      block_.Absent(w, s.iteration);
    } else {
      const PushEvent push = s.held ? *s.held : block_.NextPush(w, s.iteration);
      std::vector<float> mine(kWorkers, 0.0F);
      mine[w] = 1.0F;
      block_.Feed(push, mine);
      s.held = push;
      Listen();
      if (s.waits == Waits::kForOpen) return true;
      highest_sent_ = std::max(highest_sent_, s.iteration);
      if (Draw(8) == 0) block_.Feed(push, mine);  // it comes again, and changes nothing
    }
    s.held.reset();
    s.waits = Waits::kForAnswer;
    block_.Pull(w, s.iteration);
    Listen();
    return true;
  }
  void Listen() {
    for (const std::string& line : block_.Heard()) {
      const std::string word = line.substr(0, line.find(' '));
      if (word == "WAKE") {
        wake_ = std::stoll(line.substr(5));
        continue;
      }
      const auto worker = static_cast<std::uint32_t>(std::stoul(line.substr(word.size() + 1)));
      State& s = state_[worker];
      const std::int64_t v_train = std::stoll(line.substr(line.find(" v") + 2));
      if (word == "ANSWER" || word == "UNCHANGED") {
        if (s.waits != Waits::kForAnswer) continue;
        s.waits = Waits::kForNothing;
        s.iteration = skips_ahead_ ? std::max(s.iteration + 1, v_train) : s.iteration + 1;
      } else if (word == "WINDOW") {
        s.waits = Waits::kForOpen;
      } else if (word == "OPEN") {
        EXPECT_EQ(s.waits, Waits::kForOpen) << line;
        s.waits = Waits::kForNothing;
      } else if (word == "APPLIED" || word == "SUMMED") {
        taken_.insert({worker, std::stoull(line.substr(line.find('#') + 1))});
      } else if (word == "LATE_DROPPED") {
        EXPECT_TRUE(leaves_behind_ && drops_late_) << line;
      } else {
        EXPECT_EQ(word, "ABSENT") << line;
      }
    }
  }
  void Note(const std::string& sync) {
    skips_ahead_ = block_->sync().model->ForWorker().skips_ahead;
    // Under no other model does a block advance without a worker, whose push is late then.
    leaves_behind_ = leaves_behind_ || skips_ahead_ || sync.starts_with("when");
    drops_late_ = LateOf(block_->sync(), block_->aggregates()) == Late::kDrop;
  }
  std::uint64_t Draw(std::uint64_t n) { return (random_ = Mix64(random_)) % n; }
  std::string Draw(const std::vector<std::string>& of) { return of[Draw(of.size())]; }

  std::uint64_t random_;
  HandFedBlock block_;
  std::map<std::uint32_t, State> state_;
  std::optional<std::int64_t> wake_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> taken_;
  std::int64_t highest_sent_ = -1;
  bool skips_ahead_ = false, drops_late_ = false;
  bool leaves_behind_ = false;  // now or before
};

TEST(BlockSwitchTest, BetweenAnyTwoModelsAtAnyPointNothingHangsOrIsLost) {
  const std::vector<std::string> models = ModelExamples();
  const std::uint64_t seeds = 3 + 400 / (models.size() * models.size());
  std::uint64_t sequences = 0;
  for (const std::string& from : models) {
    for (const std::string& to : models) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::uint64_t random = Hash64({seed, ++sequences});
        const std::string what = from + " to " + to + ", seed " + std::to_string(random);
        SCOPED_TRACE(what);
        SwitchedWorkers job(from, random);
        job.RunMoves(random % 23);
        if (seed % 3 == 0) job.Leave(static_cast<std::uint32_t>(random % SwitchedWorkers::kWorkers));
        job.Switch(to);
        if (seed % 2 == 0) {
          job.RunMoves(random / 23 % 7);
          job.Switch(from);
          job.RunMoves(random / 161 % 5);
          job.Switch(to);
        }
        job.RunToTheEnd();
        job.ExpectNothingHangsOrIsLost(what);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GE(sequences, 200U);
}

}  // namespace
}  // namespace leeway
