// SharedArena: the Arena of the real world. Buffers that are sent lie in shared regions, which peers on this
// host map and read. Buffers that are kept lie in private ones, with huge pages where the system allows them.
//
// Regions are added as they are needed and stay. Pages of freed pieces of 64 KiB and more go back to the
// system; smaller ones wait here to be used again. Pieces keep the regions alive, so tensors in here outlive
// the node. A forked child that frees one leaves it to its parent, and gets memory from the heap.
// Thread-safe; finding a piece takes no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/heap_arena.h"
#include "leeway/arena.h"
#include "leeway/status.h"

namespace leeway {

class SharedArena final : public Arena {
 public:
  SharedArena();
  [[nodiscard]] std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) override;

  // Small needs are left to Allocate: the regions that exist may have room for them.
  [[nodiscard]] bool HasRoomFor(std::uint64_t bytes) const override;
  // From 64 KiB on; in a forked child nothing.
  [[nodiscard]] std::function<void()> Prepare(std::span<std::byte> memory) const override;

  // Where a stretch of memory lies, in words that a peer understands.
  struct Place {
    std::uint32_t region = 0;
    std::uint64_t offset = 0;
  };
  // Why the last piece for sending lies in private memory, or ok. The next may be shared again.
  [[nodiscard]] Status unshared() const;
  // Nothing if it is not all within one shared region.
  [[nodiscard]] std::optional<Place> Find(std::span<const std::byte> bytes) const;
  struct RegionFile {
    int fd = -1;  // read only; stays open as long as the arena lives
    std::uint64_t bytes = 0;
  };
  // REQUIRES: a region that Find named.
  [[nodiscard]] RegionFile FileOf(std::uint32_t region) const;

 private:
  class Regions;
  HeapArena heap_;                          // for small pieces that are kept
  const std::shared_ptr<Regions> regions_;  // shared with every piece, which returns to it
};

}  // namespace leeway
