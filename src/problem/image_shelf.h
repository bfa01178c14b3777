// ImageShelf: a cache of image sets by source and folder, so that all problems of one registry read a folder
// once. Thread rule: any thread; a second thread that asks for a folder waits for the first.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "leeway/status.h"
#include "problem/image_source.h"

namespace leeway::problem {

// Shared by the cache and by every problem that draws from it, because their order of destruction is unknown.
using ImageSetsPtr = std::shared_ptr<const ImageSets>;

class ImageShelf {
 public:
  // The cache keeps no errors: the next call reads the files again.
  [[nodiscard]] Result<ImageSetsPtr> Get(const ImageSource& source, const std::string& folder);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, ImageSetsPtr> sets_;  // by source and folder
};

}  // namespace leeway::problem
