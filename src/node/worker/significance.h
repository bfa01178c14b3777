// Significance of a gradient: how large it is beside the values it changes, |g| / |w| (Gaia; FluentPS,
// section III-E). One pass over both, in fixed lanes, so that every machine gets the same bits.
#pragma once

#include <span>

namespace leeway {

// Infinite where the values are all zero, or something is not finite. REQUIRES: same sizes.
[[nodiscard]] double Significance(std::span<const float> gradient, std::span<const float> values);

}  // namespace leeway
