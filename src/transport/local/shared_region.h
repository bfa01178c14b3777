// SharedRegion: one stretch of memory of this process that peers on this host may map, to read it.
//
// A memfd, sealed against shrinking, so that no process that maps it can hit a missing page. Peers get a
// descriptor that cannot write. Where the system has no memfd (or the caller wants none) it is plain
// anonymous memory, which no other process sees.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway {

class SharedRegion {
 public:
  // Memory is taken page by page as it is touched, so `bytes` may be more than is needed.
  [[nodiscard]] static Result<SharedRegion> Make(std::size_t bytes);
  [[nodiscard]] static Result<SharedRegion> MakePrivate(std::size_t bytes);
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // The descriptor for peers to map; -1 when they cannot.
  [[nodiscard]] int read_only_fd() const { return read_only_.fd(); }
  // Gives the whole pages within `piece` back to the system: they are zeros when they are next touched.
  void GiveBack(std::span<std::byte> piece) const;
  // Makes the system allocate the pages of `piece`, as a write to each would. Any thread. Their contents
  // stay.
  static void Populate(std::span<std::byte> piece);

 private:
  SharedRegion(std::span<std::byte> bytes, Descriptor read_only)
      : bytes_(bytes), read_only_(std::move(read_only)) {}

  std::span<std::byte> bytes_;
  Descriptor read_only_;
};

}  // namespace leeway
