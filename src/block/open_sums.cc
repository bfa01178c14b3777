#include "block/open_sums.h"

#include "base/check.h"
#include "optimizer/kernels.h"

namespace leeway {

OpenSums::OpenSums(bool ordered, BufferPool& pool) : ordered_(ordered), pool_(pool) {}

Values::Outcome OpenSums::Add(Iteration iteration, const PushEvent& push, Gradient gradient, bool any) {
  LW_CHECK(push.samples > 0);
  const auto weight = static_cast<float>(push.samples);
  const auto found = sums_.find(iteration);
  const bool joins = !ordered_ && found != sums_.end() && found->second.total.gradient != nullptr;
  bool finite = true;
  BufferRef next;
  if (joins) {
    Weighted& total = found->second.total;
    next = pool_.Take(gradient.values().size());
    if (next == nullptr) return Values::Outcome::kNoMemory;
    BufferRef scaled = Scaled(total);
    if (scaled == nullptr) return Values::Outcome::kNoMemory;
    total = {std::move(scaled), 1.0F};
    finite = kernels::AddScaledInto(next->floats(), std::as_const(*total.gradient).floats(),
                                    gradient.values(), weight);
  } else if (gradient.IsLent()) {
    next = pool_.Take(gradient.values().size());
    if (next == nullptr) return Values::Outcome::kNoMemory;
    finite = kernels::ScaleInto(next->floats(), gradient.values(), 1.0F);
  } else {
    finite = any || kernels::AllFinite(gradient.values());
    next = gradient.TakeBuffer();
  }
  if (!gradient.Whole()) return Values::Outcome::kTorn;
  if (!finite && !any) return Values::Outcome::kNonFinite;
  Sum& sum = sums_[iteration];
  const Key key{push.from.worker, push.from.incarnation, push.seq};
  ChooseHyper(sum, push.steps, key, push.hyper);
  ++sum.contributors;
  sum.samples += push.samples;
  if (ordered_) {
    sum.held[key] = {std::move(next), weight};
  } else {
    sum.total = {std::move(next), joins ? 1.0F : weight};
  }
  return Values::Outcome::kPublished;
}

std::optional<OpenSums::Closed> OpenSums::Close(Iteration iteration) {
  const auto found = sums_.find(iteration);
  if (found == sums_.end()) return std::nullopt;
  Sum sum = std::move(found->second);
  sums_.erase(found);
  if (sum.held.size() > 1 && sum.total.gradient == nullptr) {
    sum.total = {SumOf(sum.held), 1.0F};
  } else {
    for (auto& [key, next] : sum.held) sum.lost = !AddTo(sum.total, std::move(next)) || sum.lost;
  }
  if (sum.lost) sum.total = {};
  return Closed{.sum = sum.total.gradient == nullptr ? nullptr : Scaled(sum.total),
                .mean_scale = static_cast<float>(1.0 / static_cast<double>(sum.samples)),
                .contributors = sum.contributors,
                .hyper = sum.hyper,
                .hyper_mismatch = sum.hyper_mismatch};
}

void OpenSums::MergeInto(Iteration into) {
  while (!sums_.empty() && sums_.rbegin()->first > into) {
    const auto next = sums_.upper_bound(into);
    Sum from = std::move(next->second);
    sums_.erase(next);
    Sum& sum = sums_[into];
    ChooseHyper(sum, from.steps, from.chosen, from.hyper);
    sum.hyper_mismatch = sum.hyper_mismatch || from.hyper_mismatch;
    sum.contributors += from.contributors;
    sum.samples += from.samples;
    sum.lost = sum.lost || from.lost;
    if (from.total.gradient != nullptr) sum.lost = !AddTo(sum.total, std::move(from.total)) || sum.lost;
    sum.held.merge(from.held);  // sequences differ, so that every key is there once
  }
}

std::optional<Iteration> OpenSums::First() const {
  if (sums_.empty()) return std::nullopt;
  return sums_.begin()->first;
}

std::vector<OpenSumState> OpenSums::Save() const {
  std::vector<OpenSumState> saved;
  for (const auto& [iteration, sum] : sums_) {
    OpenSumState& state = saved.emplace_back();
    state.iteration = iteration;
    state.samples = sum.samples;
    state.contributors = sum.contributors;
    state.steps = sum.steps;
    state.chosen = {std::get<WorkerId>(sum.chosen), std::get<Incarnation>(sum.chosen)};
    state.chosen_seq = std::get<Seq>(sum.chosen);
    state.hyper = sum.hyper;
    state.hyper_mismatch = sum.hyper_mismatch;
    if (sum.total.gradient != nullptr) {
      state.contributions.push_back({{}, Seq(0), sum.total.weight, sum.total.gradient});
    }
    for (const auto& [key, held] : sum.held) {
      state.contributions.push_back({{std::get<WorkerId>(key), std::get<Incarnation>(key)},
                                     std::get<Seq>(key),
                                     held.weight,
                                     held.gradient});
    }
  }
  return saved;
}

void OpenSums::Load(std::span<const OpenSumState> sums) {
  for (const OpenSumState& state : sums) {
    Sum& sum = sums_[state.iteration];
    sum.samples = state.samples;
    sum.contributors = state.contributors;
    sum.steps = state.steps;
    sum.chosen = {state.chosen.worker, state.chosen.incarnation, state.chosen_seq};
    sum.hyper = state.hyper;
    sum.hyper_mismatch = state.hyper_mismatch;
    for (const ContributionState& from : state.contributions) {
      // Sums are added to in place, and what was loaded is not ours alone.
      BufferRef own = pool_.Take(from.gradient->floats().size());
      if (own == nullptr) {
        sum.lost = true;
        continue;
      }
      kernels::ScaleInto(own->floats(), from.gradient->floats(), 1.0F);
      Weighted weighted{std::move(own), from.weight};
      if (ordered_) {
        sum.held[{from.from.worker, from.from.incarnation, from.seq}] = std::move(weighted);
      } else {
        // One, or what was held one by one where it was saved.
        sum.lost = !AddTo(sum.total, std::move(weighted)) || sum.lost;
      }
    }
  }
}

// The first gradient becomes the sum without being copied or read; its weight is applied when the second
// comes.
bool OpenSums::AddTo(Weighted& total, Weighted next) {
  if (total.gradient == nullptr) {
    total = std::move(next);
    return true;
  }
  if (total.weight == 1.0F && total.gradient.use_count() > 1) {
    BufferRef own = pool_.Take(total.gradient->floats().size());
    if (own == nullptr) return false;
    kernels::ScaleInto(own->floats(), std::as_const(*total.gradient).floats(), 1.0F);
    total.gradient = std::move(own);
  }
  BufferRef scaled = Scaled(total);
  if (scaled == nullptr) return false;
  total = {std::move(scaled), 1.0F};
  kernels::AddScaled(total.gradient->floats(), std::as_const(*next.gradient).floats(), next.weight);
  return true;
}

// In the order of their keys, in one pass: as AddTo one after the other, to the last bit.
BufferRef OpenSums::SumOf(const std::map<Key, Weighted>& held) {
  std::vector<const float*> inputs;
  std::vector<float> weights;
  for (const auto& [key, one] : held) {
    inputs.push_back(std::as_const(*one.gradient).floats().data());
    weights.push_back(one.weight);
  }
  BufferRef sum = pool_.Take(held.begin()->second.gradient->floats().size());
  if (sum == nullptr) return nullptr;
  (void)kernels::MeanInto(sum->floats(), inputs, weights,
                          1.0F);  // each gradient was checked when it came
  return sum;
}

BufferRef OpenSums::Scaled(Weighted& w) {
  if (w.weight == 1.0F) return std::move(w.gradient);
  if (w.gradient.use_count() == 1) {
    kernels::Scale(w.gradient->floats(), w.weight);
    return std::move(w.gradient);
  }
  BufferRef own = pool_.Take(w.gradient->floats().size());
  if (own == nullptr) return nullptr;
  kernels::ScaleInto(own->floats(), std::as_const(*w.gradient).floats(), w.weight);
  return own;
}

void OpenSums::ChooseHyper(Sum& sum, std::uint64_t steps, const Key& key, const Hyper& hyper) {
  if (sum.contributors > 0 && hyper != sum.hyper) sum.hyper_mismatch = true;
  if (sum.contributors == 0 || steps > sum.steps || (steps == sum.steps && key < sum.chosen)) {
    sum.steps = steps;
    sum.chosen = key;
    sum.hyper = hyper;
  }
}

}  // namespace leeway
