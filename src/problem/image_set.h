// ImageSets: small grey images with their classes, as in MNIST and Fashion-MNIST, read from four IDX files.
//
// Pixels stay bytes and become floats batch by batch: as floats the sets would take four times the memory.
// Nothing changes after reading, so any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::problem {

inline constexpr std::size_t kImageSide = 28;
inline constexpr std::size_t kImagePixels = kImageSide * kImageSide;
inline constexpr std::size_t kImageClasses = 10;

struct ImageSet {
  std::vector<std::uint8_t> pixels;  // kImagePixels for each image
  std::vector<std::uint8_t> labels;  // one for each image, below kImageClasses

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const {
    return std::span(pixels).subspan(i * kImagePixels, kImagePixels);
  }
};

struct ImageSets {
  ImageSet train;
  ImageSet test;
};

// The source of a set of images: the rows of `data=`.
struct ImageSource {
  std::string name;
  std::string folder;      // unless the spec names another
  std::string how_to_get;  // for people who do not have it
  float mean = 0;          // of the pixels of all training images, from 0 to 1
  float deviation = 1;
};
[[nodiscard]] std::vector<ImageSource> ImageSources();

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the two of t10k, each with or without ".gz".
[[nodiscard]] Result<ImageSets> ReadImageSets(const std::string& folder);

}  // namespace leeway::problem
