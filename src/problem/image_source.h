// ImageSource: where a set of images comes from: the rows of `data=`.
#pragma once

#include <string>
#include <vector>

#include "leeway/status.h"
#include "problem/image_set.h"

namespace leeway::problem {

struct ImageSource {
  std::string name;
  Result<ImageSets> (*read)(const std::string& folder) = nullptr;
  std::string folder;      // unless the spec names another
  std::string how_to_get;  // for people who do not have it
  float mean = 0;          // of the bytes of all training images, from 0 to 1
  float deviation = 1;
};

[[nodiscard]] std::vector<ImageSource> ImageSources();

}  // namespace leeway::problem
