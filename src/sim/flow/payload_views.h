// Payload views: the pinned parts of a message where the sender has them.
#pragma once

#include <cstddef>
#include <span>

namespace leeway::sim {

// Whether a receiver may read this view in place, as elements.
[[nodiscard]] bool IsReadable(std::span<const std::byte> view);

// Copies the bytes of all views into the places. REQUIRES: both have the same number of bytes in all.
void CopyInto(std::span<const std::span<std::byte>> places,
              std::span<const std::span<const std::byte>> views);

}  // namespace leeway::sim
