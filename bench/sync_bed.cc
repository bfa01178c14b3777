#include "sync_bed.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "figures.h"

namespace leeway::bench {

namespace {

// With few workers several blocks are fed in turn, so that a phase is long enough to be timed.
constexpr std::uint32_t kPairsInRoundMin = 128;
constexpr std::uint64_t kSpareBytesMax = 1U << 20;
// An iteration on the block's clock.
constexpr std::int64_t kRoundNs = 1'000'000;

}  // namespace

Result<std::unique_ptr<SyncBed>> SyncBed::Make(const std::string& spec, std::uint32_t workers,
                                               Places places) {
  LW_ASSIGN_OR_RETURN(SyncPolicy sync, MakeSyncPolicy(BuiltinSyncModels(), spec));
  LW_ASSIGN_OR_RETURN(const ApplyMode apply, MakeApplyMode("", *sync.model));
  LW_ASSIGN_OR_RETURN(OptimizerPtr optimizer, BuiltinOptimizers().MakeFromSpec("sgd"));
  if (places == Places::kSpread && sync.model->Lead())
    return InvalidArgument("sync \"{}\" lets workers be {} apart, wanted one that bounds nobody", spec,
                           *sync.model->Lead());
  return std::unique_ptr<SyncBed>(new SyncBed(std::move(sync), apply, std::move(optimizer), workers, places));
}

SyncBed::SyncBed(SyncPolicy sync, const ApplyMode& apply, OptimizerPtr optimizer, std::uint32_t workers,
                 Places places)
    : pool_(kSpareBytesMax),
      sync_(std::move(sync)),
      optimizer_(std::move(optimizer)),
      workers_(workers),
      burst_(places == Places::kSpread
                 ? 1
                 : std::min(sync_.model->Lead().value_or(kRunAhead - 1) + 1, kRunAhead)),
      gradient_(pool_.Take(1)) {
  gradient_->floats()[0] = 0.5F;
  std::vector<MemberState> members;
  for (std::uint32_t w = 0; w < workers; ++w) {
    members.push_back({.key = {WorkerId(w), Incarnation(1)}, .first = Iteration(0)});
    order_.push_back(WorkerId(w));
    places_.push_back(places == Places::kSpread ? w : 0);
  }
  std::ranges::sort(order_, {}, [](WorkerId w) { return Mix64(w.value()); });
  std::ranges::sort(places_, {},
                    [](std::int64_t place) { return Mix64(static_cast<std::uint64_t>(~place)); });
  for (std::uint32_t b = 0; b < std::max(1U, kPairsInRoundMin / workers); ++b) {
    BlockOptions options;
    options.id = BlockId(b);
    options.elements = 1;
    options.apply = apply;
    blocks_.push_back(std::make_unique<Block>(options, sync_, *optimizer_, pool_, *this));
    blocks_.back()->OnMembers(Epoch(1), members, TimePoint{});
    const BufferRef zero = pool_.Take(1);
    zero->floats()[0] = 0.0F;
    blocks_.back()->OnInit(members[0].key, options.term, zero, TimePoint{});
  }
  // Everybody takes its place.
  (void)Phase(Event::kAbsent, {0, workers_}, 0);
  ++iteration_, ++seq_;
}

Result<SyncBed::Costs> SyncBed::Turn(std::uint32_t pairs) {
  const auto in_round =
      workers_ * static_cast<std::uint32_t>(blocks_.size()) * static_cast<std::uint32_t>(burst_);
  std::array<std::vector<double>, 3> ns;
  for (std::uint32_t done = 0; done < pairs; done += in_round) {
    Round(Event::kPush, ns);
    Round(Event::kAbsent, ns);
  }
  // In an iteration that everybody has sent nobody waits, whatever the model.
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (block->waiting() > 0) return DeadlineExceeded("{} pulls were not answered", block->waiting());
  }
  Costs costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = Median(ns[i]);
  return costs;
}

BlockCounters SyncBed::counters() const {
  BlockCounters sum;
  for (const std::unique_ptr<Block>& block : blocks_) sum += block->counters();
  return sum;
}

void SyncBed::Round(Event send, std::array<std::vector<double>, 3>& ns) {
  const std::uint32_t half = workers_ / 2;
  double sends = 0, pulls = 0;
  for (const Range workers : {Range{0, half}, Range{half, workers_}}) {
    for (std::int64_t beyond = 0; beyond < burst_; ++beyond) {
      sends += Phase(send, workers, beyond);
      pulls += Phase(Event::kPull, workers, beyond);
    }
  }
  const double phases = 2.0 * static_cast<double>(burst_);
  ns[static_cast<std::size_t>(send)].push_back(sends / phases);
  ns[static_cast<std::size_t>(Event::kPull)].push_back(pulls / phases);
  iteration_ += burst_;
  seq_ += static_cast<std::uint64_t>(burst_);
}

double SyncBed::Phase(Event event, Range workers, std::int64_t beyond) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::unique_ptr<Block>& block : blocks_) {
    for (std::uint32_t at = workers.begin; at < workers.end; ++at) Feed(*block, event, at, beyond);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / (static_cast<double>(blocks_.size()) * (workers.end - workers.begin));
}

void SyncBed::Feed(Block& block, Event event, std::uint32_t at, std::int64_t beyond) {
  const MemberKey from{order_[at], Incarnation(1)};
  const Seq seq(seq_ + static_cast<std::uint64_t>(beyond));
  const Iteration iteration(iteration_ + places_[at] + beyond);
  const TimePoint now(Duration((iteration_ + beyond) * kRoundNs + at));
  switch (event) {
    case Event::kPush:
      return block.OnPush({.from = from,
                           .term = Term(1),
                           .seq = seq,
                           .iteration = iteration,
                           .base_version = block.version(),
                           .hyper = {}},
                          gradient_, now);
    case Event::kAbsent:
      return block.OnAbsent({.from = from, .term = Term(1), .seq = seq, .iteration = iteration}, now);
    case Event::kPull:
      return block.OnPull(
          {.from = from, .term = Term(1), .progress = iteration, .cached_version = {}, .epoch_min = {}}, now);
  }
}

}  // namespace leeway::bench
