// How long one line of memory takes that nothing could fetch before: a walk through a set of lines in which
// each says where the next one is. No program with that much scattered state can be faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leeway::bench {

// Nanoseconds for each line of a set of so many bytes, at least 4 KiB. Takes some 50 ms, more where memory is
// slow.
[[nodiscard]] double LineLatencyNs(std::size_t set_bytes);

// The successor of each element in one random cycle through all n, so that no walk ends in a part that a
// cache holds. REQUIRES: n is not 0.
[[nodiscard]] std::vector<std::uint32_t> RandomCycle(std::size_t n);

}  // namespace leeway::bench
