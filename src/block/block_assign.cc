// What becomes of an array that a worker sets: values, or a part of the optimizer's state.
#include <cstddef>
#include <optional>
#include <utility>

#include "block/block_core.h"
#include "optimizer/kernels.h"

namespace leeway {

void Block::Core::OnAssign(const AssignEvent& assign, Gradient array) {
  if (!Admits(assign.from, assign.term, assign.seq)) return;
  const std::optional<BlockVerdict> verdict = Set(assign, std::move(array));
  if (!verdict) return;  // it comes again
  ledger_.Record(assign.from, assign.seq, *verdict);
  ++(*verdict == BlockVerdict::kApplied ? counters_.assigned : counters_.unassigned);
  Say(assign.from, assign.seq, *verdict);
}

std::optional<BlockVerdict> Block::Core::Set(const AssignEvent& assign, Gradient array) {
  const std::size_t arrays = 1 + values_.slots().size();
  if (!values_.initialized() || assign.array >= arrays || array.values().size() != options_.elements)
    return BlockVerdict::kRefused;
  // The worker has not seen what the optimizer has made since: setting values would undo gradients of others.
  // Version 0 is what a worker has read under an owner before: only an optimizer that never ran lets it pass.
  // A version that is not there yet is of such an owner as well.
  if (assign.base_version < values_.stepped() || assign.base_version > values_.version())
    return BlockVerdict::kLateDropped;
  BufferRef own = array.TakeBuffer();
  bool finite = true;
  if (own == nullptr) {
    own = pool_.Take(options_.elements, assign.array == 0 ? Arena::Use::kSent : Arena::Use::kKept);
    if (own == nullptr) {
      ++counters_.no_memory;
      return BlockVerdict::kRefused;
    }
    finite = kernels::ScaleInto(own->floats(), array.values(), 1.0F);
    if (!array.Whole()) return std::nullopt;
  } else {
    finite = kernels::AllFinite(own->floats());
  }
  if (!finite && (assign.array > 0 || options_.nonfinite == NonFinite::kRefuse))
    return BlockVerdict::kRefused;
  if (assign.array > 0) {
    values_.AssignSlot(assign.array - std::size_t{1}, std::move(own), assign.steps);
    return BlockVerdict::kApplied;
  }
  values_.Assign(std::move(own));
  // A gradient of before is not compensated across it: the way between the two is nobody's gradient.
  kept_.Clear();
  return BlockVerdict::kApplied;
}

}  // namespace leeway
