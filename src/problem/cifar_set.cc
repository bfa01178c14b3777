#include "problem/cifar_set.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway::problem {
namespace {

constexpr std::size_t kRecordBytes = 1 + kCifarImageBytes;

Result<std::vector<std::uint8_t>> ReadRecords(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return FileError(error.value(), "cannot read \"" + path + "\"");
  if (size > kCifarFileBytesMax) {
    return ResourceExhausted("\"{}\" has {} bytes, wanted at most {}", path, size, kCifarFileBytesMax);
  }
  if (size == 0 || size % kRecordBytes != 0) {
    return InvalidArgument("\"{}\" has {} bytes, wanted a multiple of {}: a label and {} for each image",
                           path, size, kRecordBytes, kCifarImageBytes);
  }
  std::vector<std::uint8_t> bytes(size);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) return FileError(errno != 0 ? errno : EIO, "cannot read \"" + path + "\"");
  return bytes;
}

Status AppendImages(const std::string& path, ImageSet& set) {
  LW_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> bytes, ReadRecords(path));
  for (auto record = bytes.begin(); record != bytes.end(); record += kRecordBytes) {
    if (*record >= kImageClasses) {
      return InvalidArgument("\"{}\" has the label {} at image {}, wanted 0 to {}", path, *record,
                             (record - bytes.begin()) / kRecordBytes, kImageClasses - 1);
    }
    set.labels.push_back(*record);
    set.pixels.insert(set.pixels.end(), record + 1, record + kRecordBytes);
  }
  return Status::Ok();
}

Result<ImageSet> ReadCifarSet(const std::string& folder, std::span<const char* const> files) {
  std::vector<std::string> paths;
  for (const char* file : files) paths.push_back((std::filesystem::path(folder) / file).string());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::error_code error;
    if (!std::filesystem::exists(paths[i], error))
      return NotFound("there is no {} in the folder \"{}\"", files[i], folder);
  }
  ImageSet set;
  set.image_bytes = kCifarImageBytes;
  for (const std::string& path : paths) LW_RETURN_IF_ERROR(AppendImages(path, set));
  return set;
}

}  // namespace

Result<ImageSets> ReadCifarSets(const std::string& folder) {
  constexpr const char* kTrain[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin"};
  constexpr const char* kTest[] = {"test_batch.bin"};
  LW_ASSIGN_OR_RETURN(ImageSet test, ReadCifarSet(folder, kTest));
  LW_ASSIGN_OR_RETURN(ImageSet train, ReadCifarSet(folder, kTrain));
  return ImageSets{std::move(train), std::move(test)};
}

}  // namespace leeway::problem
