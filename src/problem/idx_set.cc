#include "problem/idx_set.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "problem/idx_file.h"

namespace leeway::problem {
namespace {

Result<std::string> FindIdxFile(const std::string& folder, const std::string& name) {
  for (const char* ending : {".gz", ""}) {
    std::string path = (std::filesystem::path(folder) / (name + ending)).string();
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return NotFound("there is no {0} and no {0}.gz in the folder \"{1}\"", name, folder);
}

// `part` is "train" or "t10k", as the files are called.
Result<ImageSet> ReadIdxSet(const std::string& folder, const std::string& part) {
  LW_ASSIGN_OR_RETURN(const std::string images_path, FindIdxFile(folder, part + "-images-idx3-ubyte"));
  LW_ASSIGN_OR_RETURN(const std::string labels_path, FindIdxFile(folder, part + "-labels-idx1-ubyte"));
  LW_ASSIGN_OR_RETURN(IdxArray images, ReadIdxFile(images_path, 3));
  LW_ASSIGN_OR_RETURN(IdxArray labels, ReadIdxFile(labels_path, 1));
  if (images.shape[1] != kIdxSide || images.shape[2] != kIdxSide) {
    return InvalidArgument("\"{}\" has images of {} x {}, wanted {} x {}", images_path, images.shape[1],
                           images.shape[2], kIdxSide, kIdxSide);
  }
  if (images.shape[0] == 0) return InvalidArgument("\"{}\" has no images, wanted one or more", images_path);
  if (images.shape[0] != labels.shape[0]) {
    return InvalidArgument("\"{}\" has {} labels, wanted one for each of the {} images in \"{}\"",
                           labels_path, labels.shape[0], images.shape[0], images_path);
  }
  const auto wrong =
      std::ranges::find_if(labels.bytes, [](std::uint8_t label) { return label >= kImageClasses; });
  if (wrong != labels.bytes.end()) {
    return InvalidArgument("\"{}\" has the label {} at {}, wanted 0 to {}", labels_path, *wrong,
                           wrong - labels.bytes.begin(), kImageClasses - 1);
  }
  return ImageSet{kIdxPixels, std::move(images.bytes), std::move(labels.bytes)};
}

}  // namespace

Result<ImageSets> ReadIdxSets(const std::string& folder) {
  LW_ASSIGN_OR_RETURN(ImageSet train, ReadIdxSet(folder, "train"));
  LW_ASSIGN_OR_RETURN(ImageSet test, ReadIdxSet(folder, "t10k"));
  return ImageSets{std::move(train), std::move(test)};
}

}  // namespace leeway::problem
