// PeerRegions: the shared memory of one peer, mapped here to be read. Every place that the peer names is
// checked before it is looked at. Unmapped with the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leeway/status.h"

namespace leeway {

class PeerRegions {
 public:
  // Maps at most so many bytes.
  explicit PeerRegions(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  ~PeerRegions();
  PeerRegions(const PeerRegions&) = delete;
  PeerRegions& operator=(const PeerRegions&) = delete;

  // Maps the peer's region `id`. Regions are announced in the order of their ids, from 0. `fd` stays the
  // caller's. Refused unless it is plain shared memory, sealed against shrinking, and really has so many
  // bytes.
  [[nodiscard]] Status Add(std::uint32_t id, std::uint64_t bytes, int fd);
  // An error unless all of it lies within a region and begins at a multiple of `alignment`.
  [[nodiscard]] Result<std::span<const std::byte>> At(std::uint32_t id, std::uint64_t offset,
                                                      std::uint64_t bytes, std::size_t alignment) const;

 private:
  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;  // of all regions
  std::vector<std::span<const std::byte>> regions_;
};

}  // namespace leeway
