// The push condition that most models share: an iteration ends when every member's contribution is in.
#pragma once

#include "leeway/sync_model.h"

namespace leeway {

inline constexpr const char* kEveryoneIsIn = "count >= members";

[[nodiscard]] inline Advance WhenEveryoneIsIn(const SyncView& view) {
  // >=, because counts can jump.
  return view.CountAt(view.v_train) >= view.MembersAt(view.v_train) ? Advance::Yes() : Advance::No();
}

}  // namespace leeway
