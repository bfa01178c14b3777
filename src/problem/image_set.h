// ImageSets: small images with their classes, a part to learn from and a part to judge by.
//
// Pixels stay bytes and become floats batch by batch: as floats the sets would take four times the memory.
// Nothing changes after reading, so any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leeway::problem {

inline constexpr std::size_t kImageClasses = 10;

struct ImageSet {
  std::size_t image_bytes = 0;       // pixels times colors
  std::vector<std::uint8_t> pixels;  // image_bytes for each image
  std::vector<std::uint8_t> labels;  // one for each image, below kImageClasses

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const {
    return std::span(pixels).subspan(i * image_bytes, image_bytes);
  }
};

// Both have images of the same size.
struct ImageSets {
  ImageSet train;
  ImageSet test;
};

}  // namespace leeway::problem
