#include "problem/image_shelf.h"

#include <utility>

namespace leeway::problem {

Result<ImageSetsPtr> ImageShelf::Get(const ImageSource& source, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  ImageSetsPtr& sets = sets_[{source.name, folder}];
  if (sets == nullptr) {
    LW_ASSIGN_OR_RETURN(ImageSets read, source.read(folder));
    sets = std::make_shared<const ImageSets>(std::move(read));
  }
  return sets;
}

}  // namespace leeway::problem
