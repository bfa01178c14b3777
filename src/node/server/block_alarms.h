// BlockAlarms: one timer per block that asked to be woken. A new time replaces the one before.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

class BlockAlarms {
 public:
  BlockAlarms(Env& env, std::function<void(BlockId)> wake) : env_(env), wake_(std::move(wake)) {}
  ~BlockAlarms() { Clear(); }
  BlockAlarms(const BlockAlarms&) = delete;
  BlockAlarms& operator=(const BlockAlarms&) = delete;

  void Set(BlockId block, TimePoint when);
  void Clear();

 private:
  Env& env_;
  const std::function<void(BlockId)> wake_;
  std::map<BlockId, TimerId> timers_;
};

}  // namespace leeway
