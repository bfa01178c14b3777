// Copies that leave the cache alone.
//
// An ordinary copy first reads the lines that it writes, and puts them into the cache, where they push others
// out. For a model that no cache can hold until it is used that is work for nothing: a copy past the cache
// takes three quarters of the time together with the read that follows. For one that fits it takes twice as
// long, so the size of the whole decides (docs/performance.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace leeway {

// As memcpy. What was written is visible to other threads like any write before the next release.
void CopyPastCache(std::byte* to, const std::byte* from, std::size_t bytes);

// From so many bytes on, which are written in turn, the first are gone from a last cache of this size when
// the last are written: half of it, since others use it too, and 16 MiB at the most. A virtual machine may
// see the cache of its whole host: where two cores were told of 260 MiB, such copies paid from 16 MiB on.
[[nodiscard]] std::uint64_t PastCacheBytesMin(std::uint64_t last_cache_bytes);
// Of this machine.
[[nodiscard]] std::uint64_t PastCacheBytesMin();

}  // namespace leeway
