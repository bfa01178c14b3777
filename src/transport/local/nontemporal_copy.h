// Copies with non-temporal stores, which bypass the cache.
//
// An ordinary copy first reads the lines that it writes, and puts them into the cache, where they evict
// others. A model that is larger than the cache gains nothing by that: with non-temporal stores, the copy and
// the read that follows take three quarters of the time. For a model that fits the cache they take twice as
// long, so the size of the whole decides (docs/performance.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace leeway {

// As memcpy. Other threads see the bytes like any write before the next release.
void CopyNontemporal(std::byte* to, const std::byte* from, std::size_t bytes);

// Copies of a model pay from so many bytes on: the cache then evicts the first before the last are written.
// Half of the last-level cache, since others use it too, and at most 16 MiB. A virtual machine may see the
// cache of its whole host: where two cores were told of 260 MiB, such copies paid from 16 MiB on.
[[nodiscard]] std::uint64_t NontemporalBytesMin(std::uint64_t last_level_cache_bytes);
// Of this machine.
[[nodiscard]] std::uint64_t NontemporalBytesMin();

}  // namespace leeway
