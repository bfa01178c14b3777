#include "block/block_state.h"

namespace leeway {

void BlockState::Rebase(Iteration start) {
  progress = {};
  progress.v_train = start;
  progress.highest_sent = start - 1;
  sums.clear();
}

}  // namespace leeway
