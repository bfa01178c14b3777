#include "base/file_error.h"

#include <cerrno>
#include <system_error>

#include "base/errors.h"

namespace leeway {
namespace {

StatusCode CodeOf(int error) {
  switch (error) {
    case 0:
      return StatusCode::kOk;
    case ENOENT:
      return StatusCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return StatusCode::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return StatusCode::kInvalidArgument;
    case EIO:
    case ENXIO:
    case ENODEV:
    case ESTALE:
    case ETIMEDOUT:
      return StatusCode::kUnavailable;
    default:  // EACCES, EPERM, EROFS, EISDIR, ENOTDIR, ENOTEMPTY, EEXIST, EBUSY, EXDEV, ...
      return StatusCode::kFailedPrecondition;
  }
}

}  // namespace

Status FileError(int error, std::string_view what) {
  if (error == 0) return Status::Ok();
  return {CodeOf(error), fmt::format("{}: {}", what, std::generic_category().message(error))};
}

Status CheckPath(std::string_view path) {
  if (path.empty()) return InvalidArgument("an empty path, wanted the name of a file or folder");
  if (const std::size_t at = path.find('\0'); at != std::string_view::npos) {
    return InvalidArgument("path \"{}\" has a zero byte at {}", path.substr(0, at), at);
  }
  return Status::Ok();
}

}  // namespace leeway
