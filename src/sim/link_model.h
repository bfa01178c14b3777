// LinkModel: decides when bytes that leave one host reach another. The seam for better models of the network
// (a processor-sharing queue per NIC direction); NicLinks below is the simple one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway::sim {

using HostId = StrongInt<struct HostTag, std::uint32_t>;  // one machine with one network card, dense from 0

// The times of a piece of a stream: when the card is done with it, and when it arrives.
struct Passage {
  Duration left;
  Duration arrives;
};

class LinkModel {
 public:
  virtual ~LinkModel() = default;
  // Hands bytes to the card of `from` at `now`. Pieces of one stream come in order; a model need not keep
  // their order (the network does).
  virtual Passage Carry(HostId from, HostId to, std::size_t bytes, Duration now) = 0;
};

struct NicOptions {
  Duration latency{50'000};       // of an idle path, one way
  Duration jitter_mean{30'000};   // added to each piece, exponential
  double bytes_per_second = 1e9;  // of each direction of each card
};

// Each direction of each card serves one piece at a time, first come first served.
[[nodiscard]] std::unique_ptr<LinkModel> MakeNicLinks(const NicOptions& options, std::uint64_t seed);

}  // namespace leeway::sim
