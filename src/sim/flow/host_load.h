// HostLoad: the traffic of one host in a FlowNetwork, the work of its nodes, and the time that its bytes
// wait.
#pragma once

#include <algorithm>

#include "leeway/env.h"

namespace leeway::sim {

// Of one direction. Messages within a host pass no card and do not count.
struct TrafficLoad {
  double bytes = 0;
  // The wait of a message: from when its sender has it ready until both cards are through with it, less the
  // time that it takes alone.
  double waited_byte_s = 0;  // the sum of bytes x wait
  Duration waited_max{0};
  Duration busy{0};  // the card had something to carry; messages up to FlowOptions::small_bytes take no time

  void Add(double message_bytes, Duration waited) {
    bytes += message_bytes;
    waited_byte_s += message_bytes * std::chrono::duration<double>(waited).count();
    waited_max = std::max(waited_max, waited);
  }
};

struct HostLoad {
  TrafficLoad in, out;
  Duration worked{0};  // the work of its nodes together, as NodeCost has it
};

}  // namespace leeway::sim
