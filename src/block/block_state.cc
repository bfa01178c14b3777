#include "block/block_state.h"

#include "base/mutation.h"

namespace leeway {

void BlockState::Rebase(Iteration start) {
  progress = {};
  progress.v_train = start;
  progress.highest_sent = start - 1;
  if (!LW_MUTATED(open_sums_kept)) sums.clear();
  memory.clear();  // of members that are no more, by a clock that is no more
}

}  // namespace leeway
