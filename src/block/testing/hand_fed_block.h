// HandFedBlock: one block for tests, fed by hand; what it says is written down as short lines.
//
//   "SUMMED 0#1 v0"        worker 0's seq 1 was summed; v_train is 0
//   "ANSWER 1 p3 v4 r5"    worker 1's pull for progress 3 is answered at v_train 4 with version (revision) 5
//   "UNCHANGED 1 p3 v4 r5" the same, without values
//   "WAKE 5"               asks to be called at 5 ns
// A second life of a worker is written 0'2. Test code only.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway {

struct HandFedOptions {
  std::string sync = "bsp";
  std::string apply{};
  std::string optimizer = "sum";
  std::size_t elements = 2;
  NonFinite nonfinite = NonFinite::kRefuse;
  std::uint64_t coin_seed = 1;
  SyncModelPtr model{};  // instead of the one `sync` names, whose options stay
};

class HandFedBlock final : public BlockEvents {
 public:
  explicit HandFedBlock(HandFedOptions options = {}) : pool_(1U << 20) {
    const SyncPolicy& sync = Policy(options.sync, std::move(options.model));
    optimizer_ = Must(BuiltinOptimizers().MakeFromSpec(options.optimizer));
    block_ = std::make_unique<Block>(BlockOptions{.id = BlockId(7),
                                                  .table = TableId(3),
                                                  .term = Term(1),
                                                  .elements = options.elements,
                                                  .nonfinite = options.nonfinite,
                                                  .apply = Must(MakeApplyMode(options.apply, *sync.model)),
                                                  .coin_seed = options.coin_seed},
                                     sync, *optimizer_, pool_, *this);
  }

  Block& operator*() { return *block_; }
  Block* operator->() { return block_.get(); }
  BufferPool& pool() { return pool_; }

  // The first n workers as members from iteration 0, and initial values of zero; says nothing that Heard()
  // would show.
  HandFedBlock& Begin(std::uint32_t n) {
    for (std::uint32_t w = 0; w < n; ++w) Join(w, 0);
    Roster();
    Init(std::vector<float>(block_->elements(), 0.0F));
    lines_.clear();
    return *this;
  }

  // Changes to the roster take effect with Roster().
  HandFedBlock& Join(std::uint32_t worker, std::int64_t first, std::uint32_t life = 1) {
    members_[Key(worker, life)] = {.key = Key(worker, life), .first = Iteration(first)};
    return *this;
  }
  HandFedBlock& Leave(std::uint32_t worker, std::uint32_t life = 1) {
    members_[Key(worker, life)].gone = true;
    return *this;
  }
  // Leaves because its data has ended.
  HandFedBlock& Finish(std::uint32_t worker, std::uint32_t life = 1) {
    members_[Key(worker, life)].finished = true;
    return Leave(worker, life);
  }
  void Roster() {
    ++epoch_;
    std::vector<MemberState> roster;
    for (const auto& [key, member] : members_) roster.push_back(member);
    block_->OnMembers(epoch_, roster, Now());
  }

  // Another model, as `sync` names it or `model` is, and apply mode from now on.
  void Switch(const std::string& sync, const std::string& apply = {}, SyncModelPtr model = {},
              std::uint64_t coin_seed = 1) {
    const SyncPolicy& next = Policy(sync, std::move(model));
    block_->Switch(next, Must(MakeApplyMode(apply, *next.model)), coin_seed, Now());
  }

  // The members and the counts of another, whose block this one was loaded from.
  void ContinueFrom(const HandFedBlock& other) {
    members_ = other.members_;
    seqs_ = other.seqs_;
    epoch_ = other.epoch_;
    Roster();
    lines_.clear();
  }

  void Init(const std::vector<float>& values, std::uint32_t worker = 0) {
    block_->OnInit(Key(worker), Term(1), Fill(values), Now());
  }

  // The event of the next seq of this worker; tests change what they test.
  PushEvent NextPush(std::uint32_t worker, std::int64_t iteration, std::uint32_t life = 1) {
    return {.from = Key(worker, life),
            .term = Term(1),
            .seq = Seq(++seqs_[Key(worker, life)]),
            .iteration = Iteration(iteration),
            .hyper = {.lr = 1.0F}};
  }
  void Feed(const PushEvent& push, const std::vector<float>& gradient) {
    block_->OnPush(push, Fill(gradient), Now());
  }
  void Push(std::uint32_t worker, std::int64_t iteration, std::vector<float> gradient = {},
            std::uint32_t life = 1) {
    if (gradient.empty()) gradient.assign(block_->elements(), 1.0F);
    Feed(NextPush(worker, iteration, life), gradient);
  }
  void PushSeq(std::uint32_t worker, std::uint64_t seq, std::int64_t iteration, std::uint32_t life = 1) {
    PushEvent push = NextPush(worker, iteration, life);
    push.seq = Seq(seq);
    Feed(push, std::vector<float>(block_->elements(), 1.0F));
  }
  void Absent(std::uint32_t worker, std::int64_t iteration, std::uint32_t life = 1) {
    const PushEvent push = NextPush(worker, iteration, life);
    block_->OnAbsent({.from = push.from, .term = push.term, .seq = push.seq, .iteration = push.iteration},
                     Now());
  }
  // Absent from an iteration of another optimizer.
  void Idle(std::uint32_t worker, std::int64_t iteration, std::uint32_t life = 1) {
    const PushEvent push = NextPush(worker, iteration, life);
    block_->OnAbsent(
        {.from = push.from, .term = push.term, .seq = push.seq, .iteration = push.iteration, .idle = true},
        Now());
  }
  PullEvent NextPull(std::uint32_t worker, std::int64_t progress, std::uint32_t life = 1) {
    const Ask ask(static_cast<std::uint32_t>(progress + 2));  // so that the answer tells its progress
    return {.from = Key(worker, life), .term = Term(1), .progress = Iteration(progress), .ask = ask};
  }
  void Pull(std::uint32_t worker, std::int64_t progress, std::uint32_t life = 1) {
    block_->OnPull(NextPull(worker, progress, life), Now());
  }

  // Of the gradients of a worker: the sum of their staleness, and how many they are.
  std::array<std::uint64_t, 2> staleness(std::uint32_t worker) { return staleness_[WorkerId(worker)]; }
  // The worker that the pull behind the newest answer to `worker` had waited for.
  WorkerId held_for(std::uint32_t worker) { return held_for_[worker]; }
  // The iteration whose mean the newest answer to `worker` had (relay).
  std::int64_t mean(std::uint32_t worker) { return means_[worker]; }
  // How long the model made that pull wait.
  std::int64_t held_us(std::uint32_t worker) { return held_us_[worker]; }
  // The lines since the last call.
  std::vector<std::string> Heard() { return std::exchange(lines_, {}); }
  void Forget() { lines_.clear(); }
  std::vector<float> values() const { return {block_->values().begin(), block_->values().end()}; }
  // The values of the newest answer of a worker, still pinned.
  ConstBufferRef Held(std::uint32_t worker) { return held_[worker]; }
  void Unpin() { held_.clear(); }

  TimePoint Now() const { return TimePoint(Duration(now_ns)); }
  std::int64_t now_ns = 0;
  Epoch epoch() const { return epoch_; }
  BufferRef Fill(const std::vector<float>& values) {
    BufferRef buffer = pool_.Take(values.size());
    std::ranges::copy(values, buffer->floats().begin());
    return buffer;
  }
  static MemberKey Key(std::uint32_t worker, std::uint32_t life = 1) {
    return {WorkerId(worker), Incarnation(life)};
  }

 private:
  template <typename T>
  static T Must(Result<T> result) {
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return std::move(result).value();
  }
  // A block borrows its policy, and has the one before while it is switched.
  const SyncPolicy& Policy(const std::string& sync, SyncModelPtr model) {
    policies_.push_back(std::make_unique<SyncPolicy>(Must(MakeSyncPolicy(BuiltinSyncModels(), sync))));
    if (model) policies_.back()->model = std::move(model);
    return *policies_.back();
  }
  static std::string Name(MemberKey key) {
    return key.incarnation == Incarnation(1)
               ? fmt::format("{}", key.worker.value())
               : fmt::format("{}'{}", key.worker.value(), key.incarnation.value());
  }
  static const char* Name(Verdict verdict) {
    switch (verdict) {
      case Verdict::kApplied:
        return "APPLIED";
      case Verdict::kSummed:
        return "SUMMED";
      case Verdict::kAbsent:
        return "ABSENT";
      case Verdict::kLateDropped:
        return "LATE_DROPPED";
      case Verdict::kRefused:
        return "REFUSED";
      case Verdict::kInitialized:
        return "INITIALIZED";
      case Verdict::kGap:
        return "GAP";
      case Verdict::kFenced:
        return "FENCED";
      case Verdict::kMoved:
        return "MOVED";
      case Verdict::kWindow:
        return "WINDOW";
      case Verdict::kOpen:
        return "OPEN";
    }
    return "?";
  }

  void OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, Verdict verdict,
                 Iteration v_train) override {
    EXPECT_EQ(block, BlockId(7));
    EXPECT_EQ(term, Term(1));
    lines_.push_back(fmt::format("{} {}#{} v{}", Name(verdict), Name(to), seq.value(), v_train.value()));
  }
  void OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) override {
    EXPECT_EQ(block, BlockId(7));
    EXPECT_EQ(term, Term(1));
    const char* what = answer.values ? "ANSWER" : answer.no_gradient ? "NONE" : "UNCHANGED";
    lines_.push_back(fmt::format("{} {} p{} v{} r{}", what, Name(to), std::int64_t{answer.ask.value()} - 2,
                                 answer.v_train.value(), answer.version.value()));
    means_[to.worker.value()] = answer.mean.value();
    if (answer.values) held_[to.worker.value()] = answer.values;
    held_for_[to.worker.value()] = answer.held_for;
    held_us_[to.worker.value()] = answer.held.count() / 1000;
  }
  void OnResumed(BlockId, Term, MemberKey to, Seq last, Iteration v_train) override {
    lines_.push_back(fmt::format("RESUMED {}#{} v{}", Name(to), last.value(), v_train.value()));
  }
  void OnStaleness(WorkerId from, std::uint64_t versions) override {
    staleness_[from][0] += versions;
    ++staleness_[from][1];
  }
  void OnReached(BlockId) override {
    lines_.push_back(fmt::format("REACHED v{}", block_->v_train().value()));
  }
  void OnWakeAt(BlockId, TimePoint when) override {
    lines_.push_back(fmt::format("WAKE {}", when.time_since_epoch().count()));
  }

  BufferPool pool_;
  std::vector<std::unique_ptr<SyncPolicy>> policies_;
  OptimizerPtr optimizer_;
  std::map<MemberKey, MemberState> members_;
  std::map<MemberKey, std::uint64_t> seqs_;
  Epoch epoch_{0};
  std::vector<std::string> lines_;
  std::map<std::uint32_t, ConstBufferRef> held_;
  std::map<std::uint32_t, WorkerId> held_for_;
  std::map<std::uint32_t, std::int64_t> held_us_;
  std::map<std::uint32_t, std::int64_t> means_;
  std::map<WorkerId, std::array<std::uint64_t, 2>> staleness_;
  std::unique_ptr<Block> block_;
};

}  // namespace leeway
