// Gradients that go out in this iteration, and gradients that add up until one goes out.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"
#include "node/worker/significance.h"
#include "optimizer/kernels.h"

namespace leeway {

bool WorkerNode::Core::AddsUp() const {
  return exchange_.kind != ExchangePolicy::Kind::kEvery || exchange_.every > 1;
}

bool WorkerNode::Core::Exchanges(const WorkerTable& table, std::span<const float> gradient) const {
  // A sum is in no checkpoint: it must be in the blocks when they are cut, or the gradients in it are lost to
  // whoever goes on from there.
  if (iteration_ + 1 >= cut_at_ && table.exchanged + 1 < cut_at_) return true;
  switch (exchange_.kind) {
    case ExchangePolicy::Kind::kEvery: {
      // In iterations k - 1, 2k - 1, ...; one that was passed over is made up for.
      const std::int64_t k = exchange_.every;
      return (iteration_.value() + 1) / k > (table.exchanged.value() + 1) / k;
    }
    case ExchangePolicy::Kind::kWhenStale:
      // The next iteration would read what is more than s iterations old.
      return std::ranges::any_of(table.blocks, [&](const WorkerBlock& block) {
        return !HoldsWithin(table, block, iteration_, exchange_.stale_max);
      });
    case ExchangePolicy::Kind::kSignificant:
      // A table that this worker has nothing for is exchanged, or it would never see what others do to it.
      return gradient.empty() || Significance(gradient, table.pair.Front()) > exchange_.significance_min;
  }
  return true;
}

void WorkerNode::Core::NoteSignificance(WorkerTable& table, std::span<const float> gradient) {
  const bool wanted = std::ranges::any_of(
      table.blocks, [](const WorkerBlock& block) { return block.model->wants_significance; });
  if (!wanted) return;
  table.significance = static_cast<float>(std::min(1.0, Significance(gradient, table.pair.Front())));
}

void WorkerNode::Core::NoteLead(const WorkerTable& table) {
  for (const WorkerBlock& block : table.blocks) {
    const Iteration v_train = table.landing.InUseVTrain(block.index);
    if (v_train < Iteration(0)) continue;  // not known: its owner was replaced
    const auto lead = static_cast<std::size_t>(CountOwn(table, v_train, iteration_ - 1));
    ++counters_.lead[std::min(lead, counters_.lead.size() - 1)];
  }
}

void WorkerNode::Core::HandIn(WorkerTable& table, LentGradient gradient, Done done) {
  if (AddsUp() && table.spec.nonfinite == NonFinite::kRefuse && !kernels::AllFinite(gradient.values)) {
    // In the sum it would spoil the gradients of other iterations.
    counters_.refused += table.blocks.size();
    LaterDone(std::move(done),
              InvalidArgument("table \"{}\": the gradient of iteration {} was refused: it holds a NaN or an "
                              "infinity, wanted finite values",
                              table.spec.name, iteration_.value()));
    return ExchangeSum(table, {});
  }
  if (AddsUp() && !(table.sum.empty() && Exchanges(table, gradient.values))) {
    table.sum.Add(gradient, pool_);
    return ExchangeSum(table, std::move(done));
  }
  NoteSignificance(table, gradient.values);
  table.exchanged = iteration_;
  PushBlocks(table, iteration_, steps_, std::move(gradient), std::move(done));
  RequestBlocks(table, iteration_);
}

void WorkerNode::Core::ExchangeSum(WorkerTable& table, Done done, bool idle) {
  const bool due = !AddsUp() || Exchanges(table, table.sum.values());
  if (due) table.exchanged = iteration_;
  if (due && !table.sum.empty()) {
    LentGradient sum = table.sum.Take();
    NoteSignificance(table, sum.values);
    table.idle->MarkOwn(iteration_);
    PushBlocks(table, iteration_, steps_, std::move(sum), std::move(done));
  } else {
    if (!due) ++counters_.exchanges_skipped;
    MarkAbsent(table, iteration_, idle);
    LaterDone(std::move(done), Status::Ok());
  }
  RequestBlocks(table, iteration_);
}

void WorkerNode::Core::PushSums() {
  // Of one that leaves. What was handed in since the last exchange is not lost with it.
  ForEachTable([this](WorkerTable& table) {
    if (table.sum.empty()) return;
    Iteration last = std::max(table.pushed + 1, iteration_);
    // Below what a block collects now it would be late there, and dropped under models that drop.
    for (const WorkerBlock& block : table.blocks) last = std::max(last, block.told);
    for (WorkerBlock& block : table.blocks) {
      // Blocks that are not as far wait for what is left out, and take nothing from beyond their window.
      if (block.told < last && last > table.pushed + 1) MarkAbsent(block, last - 1);
    }
    table.pushed = last;
    PushBlocks(table, last, steps_, table.sum.Take(), {});
  });
  FlushAll();
}

bool WorkerNode::Core::HoldsSums() const {
  return std::ranges::any_of(tables_, [](const std::unique_ptr<WorkerTable>& table) {
    return table->state == WorkerTable::State::kPlaced && !table->sum.empty();
  });
}

void WorkerNode::Core::OnCut(const wire::pb::Cut& cut) {
  const RankFileHead who{options_.job, 0, stance_.worker, stance_.incarnation, Iteration(0)};
  const Iteration at(cut.iteration());
  cut_at_ = at;
  cut_at_once_ = at == Iteration(0);
  // Where iterations are exchanged one by one, all below this one are on their way. Else the last ones may
  // have been added up instead, and those that went with this iteration's are beyond the cut.
  const bool lacks = AddsUp() && (iteration_ > at || (iteration_ == at && (handed_ == at || HoldsSums())));
  client_state_.OnCut(cut, who, iteration_, lacks);
}

}  // namespace leeway
