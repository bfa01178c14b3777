#include "transport/local/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/errors.h"
#include "transport/system/descriptor.h"

namespace leeway {
namespace {

// Pieces smaller than this stay with the process: the system call would cost more than the pages are worth.
constexpr std::size_t kGiveBackBytesMin = 64 * 1024;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers do not have

Result<std::span<std::byte>> Map(std::size_t bytes, int flags, int fd) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) return ResourceExhausted("cannot map {} bytes: {}", bytes, ErrnoText(errno));
  // A request, not a need: where huge pages are allowed the first touch costs a fifth.
  if (bytes >= kHugePageBytes) madvise(at, bytes, MADV_HUGEPAGE);
  return std::span(static_cast<std::byte*>(at), bytes);
}

}  // namespace

Result<SharedRegion> SharedRegion::Make(std::size_t bytes) {
  const Descriptor fd(memfd_create("leeway", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd.fd() < 0) return Unavailable("cannot make shared memory: {}", ErrnoText(errno));
  if (ftruncate(fd.fd(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ResourceExhausted("cannot make {} bytes of shared memory: {}", bytes, ErrnoText(errno));
  }
  // A second opening of the same file: its holder can only read.
  Descriptor read_only(open(fmt::format("/proc/self/fd/{}", fd.fd()).c_str(), O_RDONLY | O_CLOEXEC));
  if (read_only.fd() < 0) return Unavailable("cannot open shared memory for reading: {}", ErrnoText(errno));
  LW_ASSIGN_OR_RETURN(const std::span<std::byte> mapped, Map(bytes, MAP_SHARED | MAP_NORESERVE, fd.fd()));
  return SharedRegion(mapped, std::move(read_only));
}

Result<SharedRegion> SharedRegion::MakePrivate(std::size_t bytes) {
  LW_ASSIGN_OR_RETURN(const std::span<std::byte> mapped,
                      Map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  return SharedRegion(mapped, Descriptor());
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), read_only_(std::move(other.read_only_)) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  read_only_ = std::move(other.read_only_);  // swaps
  return *this;
}

SharedRegion::~SharedRegion() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

void SharedRegion::GiveBack(std::span<std::byte> piece) const {
  if (piece.size() < kGiveBackBytesMin) return;
  const auto begin = static_cast<std::size_t>(piece.data() - bytes_.data());
  const std::size_t first = (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::size_t last = (begin + piece.size()) / kPageBytes * kPageBytes;
  if (last <= first) return;
  madvise(bytes_.data() + first, last - first, read_only_fd() >= 0 ? MADV_REMOVE : MADV_DONTNEED);
}

void SharedRegion::Populate(std::span<std::byte> piece) {
  const std::size_t into_page = reinterpret_cast<std::uintptr_t>(piece.data()) % kPageBytes;
  // Systems before Linux 5.14 do not know it: then the first write takes the page fault.
  madvise(piece.data() - into_page, piece.size() + into_page, kPopulateWrite);
}

}  // namespace leeway
