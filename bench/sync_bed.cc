#include "sync_bed.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "figures.h"

namespace leeway::bench {

namespace {

// With few workers several blocks are fed in turn, so that a phase is long enough to be timed.
constexpr std::uint32_t kPairsInRoundMin = 128;
constexpr std::uint64_t kSpareBytesMax = 1U << 20;
// Pushes of an iteration are this far apart on the block's clock.
constexpr std::int64_t kRoundNs = 1'000'000;

}  // namespace

Result<std::unique_ptr<SyncBed>> SyncBed::Make(const std::string& spec, std::uint32_t workers) {
  LW_ASSIGN_OR_RETURN(SyncPolicy sync, MakeSyncPolicy(BuiltinSyncModels(), spec));
  LW_ASSIGN_OR_RETURN(const ApplyMode apply, MakeApplyMode("", *sync.model));
  LW_ASSIGN_OR_RETURN(OptimizerPtr optimizer, BuiltinOptimizers().MakeFromSpec("sgd"));
  return std::unique_ptr<SyncBed>(new SyncBed(std::move(sync), apply, std::move(optimizer), workers));
}

SyncBed::SyncBed(SyncPolicy sync, const ApplyMode& apply, OptimizerPtr optimizer, std::uint32_t workers)
    : pool_(kSpareBytesMax),
      sync_(std::move(sync)),
      optimizer_(std::move(optimizer)),
      workers_(workers),
      gradient_(pool_.Take(1)) {
  gradient_->floats()[0] = 0.5F;
  std::vector<MemberState> members;
  for (std::uint32_t w = 0; w < workers; ++w)
    members.push_back({.key = {WorkerId(w), Incarnation(1)}, .first = Iteration(0)});
  for (std::uint32_t b = 0; b < std::max(1U, kPairsInRoundMin / workers); ++b) {
    BlockOptions options;
    options.id = BlockId(b);
    options.elements = 1;
    options.apply = apply;
    blocks_.push_back(std::make_unique<Block>(options, sync_, *optimizer_, pool_, *this));
    blocks_.back()->OnMembers(Epoch(1), members, TimePoint{});
    blocks_.back()->OnInit(members[0].key, options.term, pool_.Take(1), TimePoint{});
  }
}

Result<SyncBed::Costs> SyncBed::Turn(std::uint32_t pairs) {
  const auto in_round = workers_ * static_cast<std::uint32_t>(blocks_.size());
  std::array<std::vector<double>, 3> ns;
  for (std::uint32_t done = 0; done < pairs; done += in_round) {
    Round(Event::kPush, ns);
    Round(Event::kAbsent, ns);
  }
  // In an iteration that everybody has sent nobody waits, whatever the model.
  if (answers_ != pulls_) return DeadlineExceeded("{} of {} pulls were answered", answers_, pulls_);
  Costs costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = Median(ns[i]);
  return costs;
}

void SyncBed::Round(Event send, std::array<std::vector<double>, 3>& ns) {
  const std::uint32_t half = workers_ / 2;
  const double sends = Phase(send, 0, half);
  const double pulls = Phase(Event::kPull, 0, half);
  ns[static_cast<std::size_t>(send)].push_back((sends + Phase(send, half, workers_)) / 2);
  ns[static_cast<std::size_t>(Event::kPull)].push_back((pulls + Phase(Event::kPull, half, workers_)) / 2);
  ++iteration_;
}

double SyncBed::Phase(Event event, std::uint32_t begin, std::uint32_t end) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::unique_ptr<Block>& block : blocks_) {
    for (std::uint32_t w = begin; w < end; ++w) Feed(*block, event, WorkerId(w));
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  const auto events = static_cast<double>(blocks_.size()) * (end - begin);
  if (event == Event::kPull) pulls_ += static_cast<std::uint64_t>(events);
  return took.count() / events;
}

void SyncBed::Feed(Block& block, Event event, WorkerId worker) {
  const MemberKey from{worker, Incarnation(1)};
  const Seq seq(static_cast<std::uint64_t>(iteration_) + 1);
  const TimePoint now(Duration(iteration_ * kRoundNs + worker.value()));
  switch (event) {
    case Event::kPush:
      return block.OnPush({.from = from,
                           .term = Term(1),
                           .seq = seq,
                           .iteration = Iteration(iteration_),
                           .base_version = block.version(),
                           .hyper = {}},
                          gradient_, now);
    case Event::kAbsent:
      return block.OnAbsent({.from = from, .term = Term(1), .seq = seq, .iteration = Iteration(iteration_)},
                            now);
    case Event::kPull:
      return block.OnPull({.from = from,
                           .term = Term(1),
                           .progress = Iteration(iteration_),
                           .cached_version = {},
                           .epoch_min = {}},
                          now);
  }
}

}  // namespace leeway::bench
