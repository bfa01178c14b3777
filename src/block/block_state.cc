#include "block/block_state.h"

#include <algorithm>

#include "base/mutation.h"

namespace leeway {

void BlockState::Rebase(Iteration start) {
  progress = {};
  progress.v_train = start;
  progress.highest_sent = start - 1;
  if (!LW_MUTATED(open_sums_kept)) sums.clear();
  memory.clear();  // of members that are no more, by a clock that is no more
}

void BlockState::EndLives() {
  for (LifeState& life : progress.lives) {
    const Iteration last = life.progress + 1;
    if (life.live && last > progress.v_train && last > life.first) {
      progress.ended_firsts.push_back(life.first);
      progress.ended_lasts.push_back(last);
    }
    life.live = false;
  }
  std::ranges::sort(progress.ended_firsts);
  std::ranges::sort(progress.ended_lasts);
  // The members that the job starts with may begin in the iteration under way.
  progress.untouched = true;
  memory.clear();  // of former members, with times of a former clock
}

}  // namespace leeway
