#include "node/worker/exchange.h"

#include <algorithm>

#include "base/errors.h"
#include "node/worker/significance.h"
#include "optimizer/kernels.h"

namespace leeway {
namespace {

void NoteSignificance(WorkerTable& table, std::span<const float> gradient) {
  const bool wanted = std::ranges::any_of(
      table.blocks, [](const WorkerBlock& block) { return block.model->wants_significance; });
  if (!wanted) return;
  table.significance = static_cast<float>(std::min(1.0, Significance(gradient, table.pair.Front())));
}

// A table in one iteration, as its exchange policy sees it.
class TableView final : public ExchangeView {
 public:
  TableView(const WorkerTable& table, Iteration iteration, std::span<const float> gradient)
      : table_(table), iteration_(iteration), gradient_(gradient) {}
  [[nodiscard]] Iteration iteration() const override { return iteration_; }
  [[nodiscard]] Iteration exchanged() const override { return table_.exchanged; }
  [[nodiscard]] std::optional<std::int64_t> Age() const override {
    std::int64_t age = 0;
    for (const WorkerBlock& block : table_.blocks) {
      const std::optional<std::int64_t> of_block = table_.AgeOf(block, iteration_);
      if (!of_block) return std::nullopt;
      age = std::max(age, *of_block);
    }
    return age;
  }
  [[nodiscard]] std::optional<double> Significance() const override {
    if (gradient_.empty()) return std::nullopt;
    return leeway::Significance(gradient_, table_.pair.Front());
  }

 private:
  const WorkerTable& table_;
  const Iteration iteration_;
  const std::span<const float> gradient_;
};

}  // namespace

bool Exchange::IsDue(const WorkerTable& table, Iteration iteration, std::span<const float> gradient) const {
  // A sum is in no checkpoint. It must be in the blocks when they are cut, or a worker that goes on from
  // there lacks its gradients.
  if (iteration + 1 >= cut_at_ && table.exchanged + 1 < cut_at_) return true;
  return policy_->IsDue(TableView(table, iteration, gradient));
}

Status Exchange::Check(const WorkerTable& table, Iteration iteration, std::span<const float> gradient) const {
  if (!AddsUp() || table.spec.nonfinite != NonFinite::kRefuse || kernels::AllFinite(gradient))
    return Status::Ok();
  return InvalidArgument(
      "table \"{}\": the gradient of iteration {} was refused: it holds a NaN or an "
      "infinity, wanted finite values",
      table.spec.name, iteration.value());
}

void Exchange::NoteLead(const WorkerTable& table, Iteration iteration) {
  for (const WorkerBlock& block : table.blocks) {
    const Iteration v_train = table.landing.InUseVTrain(block.index);
    if (v_train < Iteration(0)) continue;  // not known: its owner was replaced
    const auto lead = static_cast<std::size_t>(table.CountOwn(v_train, iteration - 1));
    ++counters_.lead[std::min(lead, counters_.lead.size() - 1)];
  }
}

std::optional<LentGradient> Exchange::HandIn(WorkerTable& table, Iteration iteration, LentGradient gradient,
                                             BufferPool& pool) {
  if (AddsUp() && !(table.sum.empty() && IsDue(table, iteration, gradient.values))) {
    table.sum.Add(gradient, pool);
    return Close(table, iteration);
  }
  NoteSignificance(table, gradient.values);
  table.exchanged = iteration;
  return gradient;
}

std::optional<LentGradient> Exchange::Close(WorkerTable& table, Iteration iteration) {
  const bool due = !AddsUp() || IsDue(table, iteration, table.sum.values());
  if (due) table.exchanged = iteration;
  if (due && !table.sum.empty()) {
    LentGradient sum = table.sum.Take();
    NoteSignificance(table, sum.values);
    table.idle->MarkOwn(iteration);
    return sum;
  }
  if (!due) ++counters_.exchanges_skipped;
  return std::nullopt;
}

}  // namespace leeway
