#include "problem/idx_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway::problem {
namespace {

struct GzClose {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// A file that zlib unpacks, or passes on unchanged if it was never packed.
class UnpackedFile {
 public:
  static Result<UnpackedFile> Open(const std::string& path) {
    LW_RETURN_IF_ERROR(CheckPath(path));
    errno = 0;
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return FileError(errno != 0 ? errno : ENOMEM, "cannot open \"" + path + "\"");
    gzbuffer(file, 256U << 10);
    return UnpackedFile(path, file);
  }

  // How much of `into` was filled: all of it, or less at the end of the file.
  Result<std::size_t> Read(std::span<std::uint8_t> into) {
    std::size_t got = 0;
    while (got < into.size()) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(into.size() - got, 1U << 20));
      const int count = gzread(file_.get(), into.data() + got, piece);
      int error = Z_OK;
      const char* words = gzerror(file_.get(), &error);
      if (error == Z_ERRNO) return FileError(errno, "cannot read \"" + path_ + "\"");
      // A truncated packed file counts as a short file, like any other.
      if (count < 0 && error != Z_BUF_ERROR)
        return InvalidArgument("\"{}\" cannot be unpacked: {}", path_, words);
      if (count <= 0) break;
      got += static_cast<std::size_t>(count);
    }
    return got;
  }

 private:
  UnpackedFile(std::string path, gzFile file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  std::unique_ptr<gzFile_s, GzClose> file_;
};

std::uint32_t BigEndian(std::span<const std::uint8_t> four) {
  return std::uint32_t{four[0]} << 24 | std::uint32_t{four[1]} << 16 | std::uint32_t{four[2]} << 8 | four[3];
}

}  // namespace

Result<IdxArray> ReadIdxFile(const std::string& path, std::uint32_t dimensions) {
  LW_ASSIGN_OR_RETURN(UnpackedFile file, UnpackedFile::Open(path));
  std::vector<std::uint8_t> header(4 * (1 + dimensions));
  LW_ASSIGN_OR_RETURN(const std::size_t header_got, file.Read(header));
  if (header_got < header.size()) {
    return InvalidArgument("\"{}\" ends too soon: got {} bytes, wanted a header of {}", path, header_got,
                           header.size());
  }
  const std::uint32_t magic = BigEndian(header);
  const std::uint32_t wanted_magic = 0x0800 + dimensions;  // 08: unsigned bytes
  if (magic != wanted_magic) {
    return InvalidArgument(
        "\"{}\" has the magic number {:#010x}, wanted {:#010x} (IDX, bytes in {} dimension{})", path, magic,
        wanted_magic, dimensions, dimensions == 1 ? "" : "s");
  }

  IdxArray array;
  std::uint64_t wanted = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    array.shape.push_back(BigEndian(std::span(header).subspan(4 * (1 + d), 4)));
    wanted *= array.shape.back();
    // Checked after each factor of at most 2^32, so the product never overflows.
    if (wanted > kIdxBytesMax) {
      return ResourceExhausted("\"{}\" says that it holds {} bytes or more, wanted at most {}", path, wanted,
                               kIdxBytesMax);
    }
  }
  // Asks for one byte more than wanted, to notice a file that is too long.
  array.bytes.resize(wanted + 1);
  LW_ASSIGN_OR_RETURN(const std::size_t got, file.Read(array.bytes));
  if (got < wanted) {
    return InvalidArgument("\"{}\" ends too soon: got {} bytes after its header, wanted {}", path, got,
                           wanted);
  }
  if (got > wanted) {
    return InvalidArgument(
        "\"{}\" goes on too long: got more bytes after its header than the {} that it says", path, wanted);
  }
  array.bytes.pop_back();
  return array;
}

}  // namespace leeway::problem
