// ImageShelf: the image sets that were read, by folder, so that a folder is read once for all problems that
// one registry makes. Any thread; the second one that asks for a folder waits for the first.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "leeway/status.h"
#include "problem/image_set.h"

namespace leeway::problem {

// Shared by the shelf and by every problem that draws from it; none of them can say who ends last.
using ImageSetsPtr = std::shared_ptr<const ImageSets>;

class ImageShelf {
 public:
  // An error is not kept: the next one who asks looks at the files again.
  [[nodiscard]] Result<ImageSetsPtr> Get(const std::string& folder);

 private:
  std::mutex mutex_;
  std::map<std::string, ImageSetsPtr> by_folder_;
};

}  // namespace leeway::problem
