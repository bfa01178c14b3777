// Models that are special cases of others say the same, event by event, under the same apply mode.
#include <gtest/gtest.h>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

struct Pair {
  const char* one;
  const char* other;
};

// The same random pushes, absences, pulls, joins and deaths, told to two blocks.
class TwoBlocks {
 public:
  TwoBlocks(const Pair& pair, const char* apply, std::uint64_t seed)
      : one_({.sync = pair.one, .apply = apply}),
        other_({.sync = pair.other, .apply = apply}),
        random_(seed) {
    one_.Begin(kBegin);
    other_.Begin(kBegin);
    for (std::uint32_t w = 0; w < kBegin; ++w) next_[w] = 0;
  }

  void Event() {
    now_ns_ += static_cast<std::int64_t>(Draw(100));
    const std::uint64_t what = Draw(64);
    if (what == 0 && next_.size() < 6) return Join();
    if (what == 1 && next_.size() > 2) return Leave();
    auto [worker, next] = *std::next(next_.begin(), static_cast<std::ptrdiff_t>(Draw(next_.size())));
    if (what >= 40) return Both([&, w = worker, n = next](HandFedBlock& block) { block.Pull(w, n - 1); });
    // No further than the window of aggregate lets anyone; the lead of asp is bounded by it here, too.
    if (Iteration(next) > one_->v_train() + 3) return;
    const bool absent = what < 10;
    Both([&, w = worker, n = next](HandFedBlock& block) { absent ? block.Absent(w, n) : block.Push(w, n); });
    ++next_[worker];
  }

  HandFedBlock& one() { return one_; }
  HandFedBlock& other() { return other_; }

 private:
  static constexpr std::uint32_t kBegin = 4;

  std::uint64_t Draw(std::uint64_t n) { return (random_ = Mix64(random_)) % n; }
  template <typename Do>
  void Both(const Do& what) {
    for (HandFedBlock* block : {&one_, &other_}) {
      block->now_ns = now_ns_;
      what(*block);
    }
  }
  void Join() {
    const std::uint32_t worker = newest_++;
    Both([&](HandFedBlock& block) { block.Join(worker, 0).Roster(); });
    next_[worker] = one_->FirstOf(WorkerId(worker)).value();
  }
  void Leave() {
    const auto found = std::next(next_.begin(), static_cast<std::ptrdiff_t>(Draw(next_.size())));
    Both([&](HandFedBlock& block) { block.Leave(found->first).Roster(); });
    next_.erase(found);
  }

  HandFedBlock one_, other_;
  std::uint64_t random_;
  std::int64_t now_ns_ = 0;
  std::map<std::uint32_t, std::int64_t> next_;  // worker -> the iteration it sends next
  std::uint32_t newest_ = kBegin;
};

void ExpectTheSame(const Pair& pair, const char* apply) {
  std::uint64_t delayed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TwoBlocks blocks(pair, apply, seed);
    for (int event = 0; event < 400; ++event) {
      blocks.Event();
      ASSERT_EQ(blocks.one().Heard(), blocks.other().Heard())
          << pair.one << " and " << pair.other << " under " << apply << ", seed " << seed << ", event "
          << event;
    }
    EXPECT_EQ(blocks.one().values(), blocks.other().values());
    EXPECT_GT(blocks.one()->v_train(), Iteration(5));
    delayed += blocks.one()->counters().delayed;
  }
  const bool never_waits = std::string(pair.one) == "asp";
  EXPECT_EQ(delayed == 0, never_waits) << pair.one;
}

TEST(EquivalenceTest, SspWithZeroIsBsp) {
  for (const char* apply : {"immediate", "aggregate:window=4", "aggregate:window=4,reduce=ordered"}) {
    ExpectTheSame({"bsp", "ssp:0"}, apply);
  }
}

TEST(EquivalenceTest, PsspThatAlwaysWaitsIsSsp) {
  ExpectTheSame({"ssp:0", "pssp:0,1"}, "immediate");
  ExpectTheSame({"ssp:1", "pssp:1,1"}, "immediate");
  ExpectTheSame({"ssp:2,release=soft", "pssp:2,1,release=soft"}, "immediate");
}

TEST(EquivalenceTest, PsspThatNeverWaitsIsAsp) {
  ExpectTheSame({"asp", "pssp:0,0"}, "immediate");
  ExpectTheSame({"asp", "pssp:2,0"}, "immediate");
  ExpectTheSame({"asp", "pssp:2,alpha=0"}, "immediate");
}

TEST(EquivalenceTest, ModelsWithNoRoomLeftAreTheirSimplerOnes) {
  for (const char* apply : {"immediate", "aggregate:window=4"}) {
    ExpectTheSame({"bsp", "drop:1000"}, apply);
    ExpectTheSame({"bsp", "psp:1000,50"}, apply);
    ExpectTheSame({"drop:2", "psp:2,0"}, apply);
    ExpectTheSame({"ssp:2", "dsps:2,2,3"}, apply);
    ExpectTheSame({"ssp:2", "dssp:2,2"}, apply);
    ExpectTheSame({"ssp:2", "ssptable:2"}, apply);
  }
  ExpectTheSame({"asp", "bounded:3"}, "immediate");
}

TEST(EquivalenceTest, FormulasSayWhatTheModelsSay) {
  ExpectTheSame({"bsp", "when:pull=\"progress < v_train\",push=\"count >= workers\""}, "immediate");
  ExpectTheSame({"asp", "when:pull=\"1\""}, "immediate");
  ExpectTheSame({"ssp:2", "when:pull=\"gap < s\",s=2"}, "immediate");
  ExpectTheSame({"pssp:1,0.5", "when:pull=\"gap < s || rand > c\",s=1,c=0.5"}, "immediate");
  ExpectTheSame({"drop:2", "when:push=\"count >= min(n, workers)\",n=2"}, "immediate");
}

}  // namespace
}  // namespace leeway
