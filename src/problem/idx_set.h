// Grey images of 28 x 28 with their classes, as in MNIST and Fashion-MNIST, from four IDX files.
#pragma once

#include <cstddef>
#include <string>

#include "leeway/status.h"
#include "problem/image_set.h"

namespace leeway::problem {

inline constexpr std::size_t kIdxSide = 28;
inline constexpr std::size_t kIdxPixels = kIdxSide * kIdxSide;

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the two of t10k, each with or without ".gz".
[[nodiscard]] Result<ImageSets> ReadIdxSets(const std::string& folder);

}  // namespace leeway::problem
