// Colored images of 32 x 32 with their classes, from the binary files of CIFAR-10: for each image a byte with
// its label, then its pixels: 1,024 bytes red, green and blue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "leeway/status.h"
#include "problem/image_set.h"

namespace leeway::problem {

inline constexpr std::size_t kCifarImageBytes = std::size_t{3} * 32 * 32;
inline constexpr std::uint64_t kCifarFileBytesMax = 256ULL << 20;  // eight times a file of CIFAR-10

// Reads data_batch_1.bin to data_batch_5.bin for training, and test_batch.bin.
[[nodiscard]] Result<ImageSets> ReadCifarSets(const std::string& folder);

}  // namespace leeway::problem
