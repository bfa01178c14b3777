// Words of a map about a block that no node of this version can follow.
#pragma once

#include "base/errors.h"
#include "leeway/status.h"
#include "wire/control.pb.h"

namespace leeway {

// An error for a block that a plan moves, or whose state went on from an owner of an earlier term.
[[nodiscard]] inline Status CheckUnmoved(const wire::pb::Block& block) {
  if (block.plan() != 0) {
    return Protocol("block {} of the map: plan: got {}, wanted 0 (no plans in this version)", block.block(),
                    block.plan());
  }
  if (block.since() != block.term()) {
    return Protocol(
        "block {} of the map: since: got term {}, wanted its term {} (no state moves in this version)",
        block.block(), block.since(), block.term());
  }
  return Status::Ok();
}

}  // namespace leeway
