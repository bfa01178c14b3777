// ProbeNetwork: how much an emulated network really carries, before anything is measured on it.
//
// Every machine sends to every other as fast as it can, over bare sockets. A rate that this does not reach
// cannot be emulated: the processor is the limit, and not the card.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/cluster/emulated_network.h"
#include "bench/cluster/link_rate.h"

namespace leeway::bench {

struct ProbeReport {
  double gbit_s = 0;  // that the slowest machine received
  double idle = 0;    // share of the processor that was unused meanwhile, 0 to 1
};

// REQUIRES: two machines or more, and that the process has no other threads.
[[nodiscard]] Result<ProbeReport> ProbeNetwork(const EmulatedNetwork& network, std::uint32_t machines,
                                               std::chrono::milliseconds time);

// A network must carry this share of its rate.
inline constexpr double kCarriedLeast = 0.8;

// Ok if a network of this rate was found to carry enough. An error says which rates can be emulated instead:
// `rate` is the rate that the user wants, `scale` what it was divided by.
[[nodiscard]] Status CheckCarried(const ProbeReport& probe, LinkRate rate, std::uint32_t scale);

}  // namespace leeway::bench
