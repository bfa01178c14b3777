// SyncSwitches: who set a synchronization rule, and is to hear that every shard has it.
//
// Each is answered once: when all have it, or, after a while, with who has not. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/transport.h"

namespace leeway {

class SyncSwitches {
 public:
  struct Waiting {
    ConnectionId whose;
    Epoch epoch;      // of the change
    TimePoint until;  // then it hears who is missing
    std::function<void(const Status&)> reply;
  };

  // Returns its number.
  std::uint64_t Add(Waiting waiting);
  // Every shard has it. Unknown numbers (answered, forgotten) change nothing.
  void Done(std::uint64_t number);
  // Whose time is over, taken out: the caller answers them.
  [[nodiscard]] std::vector<Waiting> TakeExpired(TimePoint now);
  // The connection is gone: nobody is left to tell.
  void Forget(ConnectionId whose);

 private:
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t last_ = 0;
};

}  // namespace leeway
