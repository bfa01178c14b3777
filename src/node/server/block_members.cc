#include "node/server/block_members.h"

#include <utility>

namespace leeway {

BlockMembers::BlockMembers(Env& env, const BlockStore& blocks, Duration takeover_max,
                           std::function<void()> told_all)
    : env_(env), blocks_(blocks), takeover_max_(takeover_max), told_all_(std::move(told_all)) {}

BlockMembers::~BlockMembers() { Stop(); }

void BlockMembers::Stop() { env_.timers.Cancel(std::exchange(timer_, {})); }

void BlockMembers::Tell(Block& block) {
  // A block that was saved with members would take an empty roster for the death of all.
  if (roster_.epoch() == Epoch(0)) return;
  const auto members = blocks_.IsOwnClock(block) ? roster_.own_clock_members() : roster_.members();
  block.OnMembers(roster_.epoch(), takeover_.Known(block, members, roster_), env_.clock.Now());
}

void BlockMembers::TellAll() {
  for (const auto& block : blocks_.all()) Tell(*block);
}

void BlockMembers::TakeOver(BlockId block) {
  takeover_.Begin(block);
  env_.timers.Cancel(timer_);
  timer_ = env_.timers.After(takeover_max_, [this] {
    timer_ = {};
    takeover_.Clear();
    TellAll();
    told_all_();
  });
}

bool BlockMembers::Settle() {
  if (takeover_.empty() || roster_.joining().empty()) return true;
  if (!takeover_.IsSettled(roster_)) return false;
  TellAll();
  return true;
}

}  // namespace leeway
