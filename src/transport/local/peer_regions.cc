#include "transport/local/peer_regions.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#include "base/errors.h"
#include "transport/system/descriptor.h"

namespace leeway {
namespace {

constexpr std::size_t kRegionsMax = 4096;

}  // namespace

PeerRegions::~PeerRegions() {
  for (const std::span<const std::byte> region : regions_)
    munmap(const_cast<std::byte*>(region.data()), region.size());
}

Status PeerRegions::Add(std::uint32_t id, std::uint64_t bytes, int fd) {
  if (id != regions_.size() || id >= kRegionsMax) {
    return Protocol("shared memory: got region {}, wanted {} (of at most {})", id, regions_.size(),
                    kRegionsMax);
  }
  if (bytes == 0 || bytes > bytes_max_ - bytes_) {
    return Protocol("shared memory: region {} of {} bytes, wanted 1 to {}, what is left of {} per peer", id,
                    bytes, bytes_max_ - bytes_, bytes_max_);
  }
  // One that can shrink could be cut short while it is read, which would kill this process.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Protocol("shared memory: region {} is not sealed against shrinking", id);
  // A page of other file systems may be missing all the same: of huge pages there may be none left.
  struct statfs system {};
  if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC)
    return Protocol("shared memory: region {} is no plain shared memory (a memfd without flags)", id);
  struct stat file {};
  if (fstat(fd, &file) != 0 || static_cast<std::uint64_t>(file.st_size) < bytes) {
    return Protocol("shared memory: region {} has {} bytes, wanted the {} that were announced", id,
                    file.st_size, bytes);
  }
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED)
    return Unavailable("cannot map region {} of {} bytes: {}", id, bytes, ErrnoText(errno));
  regions_.emplace_back(static_cast<const std::byte*>(at), bytes);
  bytes_ += bytes;
  return Status::Ok();
}

Result<std::span<const std::byte>> PeerRegions::At(std::uint32_t id, std::uint64_t offset,
                                                   std::uint64_t bytes, std::size_t alignment) const {
  if (id >= regions_.size())
    return Protocol("shared memory: got region {}, wanted one of the {} announced", id, regions_.size());
  const std::span<const std::byte> region = regions_[id];
  if (offset > region.size() || bytes > region.size() - offset) {
    return Protocol("shared memory: got {} bytes at {} of region {}, wanted within its {} bytes", bytes,
                    offset, id, region.size());
  }
  if (offset % alignment != 0) {
    return Protocol("shared memory: got offset {} in region {}, wanted a multiple of {}", offset, id,
                    alignment);
  }
  return region.subspan(offset, bytes);
}

}  // namespace leeway
