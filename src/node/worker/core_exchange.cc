// Gradients that go out in this iteration, and gradients that add up until one goes out.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::NoteLead(const WorkerTable& table) {
  for (const WorkerBlock& block : table.blocks) {
    const Iteration v_train = table.landing.InUseVTrain(block.index);
    if (v_train < Iteration(0)) continue;  // not known: its owner was replaced
    const auto lead = static_cast<std::size_t>(table.CountOwn(v_train, iteration_ - 1));
    ++counters_.lead[std::min(lead, counters_.lead.size() - 1)];
  }
}

void WorkerNode::Core::HandIn(WorkerTable& table, LentGradient gradient, Done done) {
  if (const Status spoils = exchange_.Check(table, iteration_, gradient.values); !spoils.ok()) {
    counters_.refused += table.blocks.size();
    due_.LaterDone(std::move(done), spoils);
    return SendOut(table, exchange_.Close(table, iteration_), {});
  }
  SendOut(table, exchange_.HandIn(table, iteration_, std::move(gradient), tables_.pool()), std::move(done));
}

void WorkerNode::Core::SendOut(WorkerTable& table, std::optional<LentGradient> gradient, Done done,
                               bool idle) {
  if (gradient) {
    PushBlocks(table, iteration_, steps_, *std::move(gradient), std::move(done));
  } else {
    ports_.MarkAbsent(table, iteration_, idle);
    due_.LaterDone(std::move(done), Status::Ok());
  }
  RequestBlocks(table, iteration_);
}

void WorkerNode::Core::PushSums() {
  // Of one that leaves. What was handed in since the last exchange is not lost with it.
  tables_.ForEachJobClock([this](WorkerTable& table) {
    if (table.sum.empty()) return;
    Iteration last = std::max(table.pushed + 1, iteration_);
    // Below what a block collects now it would be late there, and dropped under models that drop.
    for (const WorkerBlock& block : table.blocks) last = std::max(last, block.told);
    for (WorkerBlock& block : table.blocks) {
      // Blocks that are not as far wait for what is left out, and take nothing from beyond their window.
      if (block.told < last && last > table.pushed + 1) ports_.MarkAbsent(block, last - 1);
    }
    table.pushed = last;
    PushBlocks(table, last, steps_, table.sum.Take(), {});
  });
  ports_.Flush();
}

void WorkerNode::Core::OnCut(const wire::pb::Cut& cut) {
  const RankFileHead who{options_.job, 0, stance_.worker, stance_.incarnation, Iteration(0)};
  const Iteration at(cut.iteration());
  exchange_.OnCut(at);
  cut_at_once_ = at == Iteration(0);
  // Where iterations are exchanged one by one, all below this one are on their way. Else the last ones may
  // have been added up instead, and those that went with this iteration's are beyond the cut.
  const bool lacks =
      exchange_.AddsUp() && (iteration_ > at || (iteration_ == at && (handed_ == at || tables_.HoldsSums())));
  client_state_.OnCut(cut, who, iteration_, lacks);
}

}  // namespace leeway
