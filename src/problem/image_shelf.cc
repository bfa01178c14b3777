#include "problem/image_shelf.h"

#include <utility>

namespace leeway::problem {

Result<ImageSetsPtr> ImageShelf::Get(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  ImageSetsPtr& sets = by_folder_[folder];
  if (sets == nullptr) {
    LW_ASSIGN_OR_RETURN(ImageSets read, ReadImageSets(folder));
    sets = std::make_shared<const ImageSets>(std::move(read));
  }
  return sets;
}

}  // namespace leeway::problem
