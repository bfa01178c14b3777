// PSSP on one block, over a million pulls: the share of waiting pulls is the probability of FluentPS, section
// III.E.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <queue>

#include "base/hash.h"
#include "block/block.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

// Workers of different speed, in virtual time: each computes, pushes, pulls once, and waits for its answer.
class SharesJob final : public BlockEvents {
 public:
  struct Share {
    std::uint64_t pulls = 0, waits = 0;
  };

  SharesJob(const char* sync, double significance) : significance_(significance), pool_(1U << 20) {
    sync_ = std::move(MakeSyncPolicy(BuiltinSyncModels(), sync)).value();
    optimizer_ = std::move(BuiltinOptimizers().MakeFromSpec("sum")).value();
    block_ = std::make_unique<Block>(BlockOptions{.id = BlockId(0),
                                                  .table = TableId(0),
                                                  .elements = 1,
                                                  .apply = std::move(MakeApplyMode("", *sync_.model)).value(),
                                                  .coin_seed = 2026},
                                     sync_, *optimizer_, pool_, *this);
    std::vector<MemberState> members;
    for (std::uint32_t w = 0; w < kWorkers; ++w) members.push_back({.key = Key(w), .first = Iteration(0)});
    block_->OnMembers(Epoch(1), members, {});
    block_->OnInit(Key(0), Term(1), One(), {});
    for (std::uint32_t w = 0; w < kWorkers; ++w) Compute(w);
  }

  // Shares by gap, of a million pulls.
  const std::map<std::int64_t, Share>& Run() {
    for (int pulls = 0; pulls < 1'000'000; ++pulls) {
      const auto [when, worker] = ready_.top();
      ready_.pop();
      now_ = when;
      const std::int64_t i = sent_[worker]++;
      const MemberKey key = Key(worker);
      block_->OnPush({.from = key,
                      .term = Term(1),
                      .seq = Seq(static_cast<std::uint64_t>(i + 1)),
                      .iteration = Iteration(i)},
                     One(), Now());
      const std::int64_t gap = i - block_->v_train().value();
      waiting_[worker] = true;
      block_->OnPull({.from = key,
                      .term = Term(1),
                      .progress = Iteration(i),
                      .significance = static_cast<float>(significance_)},
                     Now());
      Share& share = shares_[gap];
      ++share.pulls;
      if (waiting_[worker]) ++share.waits;
    }
    return shares_;
  }

 private:
  static constexpr std::uint32_t kWorkers = 8;

  static MemberKey Key(std::uint32_t worker) { return {WorkerId(worker), Incarnation(1)}; }
  TimePoint Now() const { return TimePoint(Duration(now_)); }
  BufferRef One() {
    BufferRef buffer = pool_.Take(1);
    buffer->floats()[0] = 1.0F;
    return buffer;
  }
  // The next iteration of this worker takes 0.5 to 1.5 times its own pace; the last worker's is four times
  // slower.
  void Compute(std::uint32_t worker) {
    const std::int64_t pace = worker + 1 == kWorkers ? 4000 : 1000;
    ready_.push({now_ + pace / 2 + static_cast<std::int64_t>((random_ = Mix64(random_)) % 1000) * pace / 1000,
                 worker});
  }

  void OnVerdict(BlockId, Term, MemberKey, Seq, Verdict, Iteration) override {}
  void OnAnswer(BlockId, Term, MemberKey to, const BlockAnswer&) override {
    waiting_[to.worker.value()] = false;
    Compute(to.worker.value());
  }
  void OnResumed(BlockId, Term, MemberKey, Seq, Iteration) override {}
  void OnWakeAt(BlockId, TimePoint) override {}
  void OnReached(BlockId) override {}

  using Ready = std::pair<std::int64_t, std::uint32_t>;
  const double significance_;
  BufferPool pool_;
  SyncPolicy sync_;
  OptimizerPtr optimizer_;
  std::unique_ptr<Block> block_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::int64_t now_ = 0;
  std::uint64_t random_ = 7;
  std::map<std::uint32_t, std::int64_t> sent_;
  std::map<std::uint32_t, bool> waiting_;
  std::map<std::int64_t, Share> shares_;
};

void ExpectShares(const char* sync, double significance,
                  const std::function<double(std::int64_t)>& probability, int gaps_wanted) {
  SharesJob job(sync, significance);
  int gaps_that_wait = 0;
  for (const auto& [gap, share] : job.Run()) {
    if (share.pulls < 10'000) continue;
    const double p = probability(gap);
    const auto n = static_cast<double>(share.pulls);
    const double error = std::sqrt(p * (1.0 - p) / n);
    EXPECT_NEAR(static_cast<double>(share.waits) / n, p, 4.0 * error)
        << sync << " at gap " << gap << " of " << n;
    if (p > 0.0) ++gaps_that_wait;
  }
  EXPECT_GE(gaps_that_wait, gaps_wanted) << sync;
}

TEST(PsspSharesTest, ConstantWaitsWithProbabilityCFromGapSOn) {
  ExpectShares(
      "pssp:3,0.5", 1.0, [](std::int64_t k) { return k < 3 ? 0.0 : 0.5; }, 4);
  ExpectShares(
      "pssp:1,0.1", 1.0, [](std::int64_t k) { return k < 1 ? 0.0 : 0.1; }, 10);
}

TEST(PsspSharesTest, DynamicWaitsMoreOftenAsTheGapGrows) {
  const auto dynamic = [](double alpha) {
    return [alpha](std::int64_t k) {
      return k < 2 ? 0.0 : alpha / (1.0 + std::exp(2.0 - static_cast<double>(k)));
    };
  };
  ExpectShares("pssp:2,alpha=0.3", 1.0, dynamic(0.3), 6);
  ExpectShares("pssp:2,alpha=significance", 0.25, dynamic(0.25), 6);
}

}  // namespace
}  // namespace leeway
