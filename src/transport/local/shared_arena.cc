#include "transport/local/shared_arena.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/errors.h"
#include "transport/local/free_pieces.h"
#include "transport/local/shared_region.h"
#include "transport/system/fork_guard.h"

namespace leeway {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Address space of a region. Untouched pages cost nothing.
constexpr std::size_t kRegionBytesMin = std::size_t{1} << 28;
// Kept pieces below this come from the heap.
constexpr std::size_t kKeptBytesMin = std::size_t{1} << 18;
constexpr std::size_t kSharedRegionsMax = 4096;
constexpr std::uint64_t kProbedBytesMin = std::uint64_t{64} << 20;
// Left to the rest of the process meanwhile.
constexpr std::uint64_t kProbeSlackBytes = std::uint64_t{64} << 20;
// Handing the faults of fewer pages to another thread costs more than they do.
constexpr std::size_t kPreparedBytesMin = std::size_t{1} << 16;

std::size_t RoundUp(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

class SharedArena::Regions : public std::enable_shared_from_this<Regions> {
 public:
  std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) {
    // A forked child has the regions of its parent, and may have been made while a thread held the lock.
    if (fork_.forked()) return HeapArena().Allocate(bytes, use);
    bytes = std::max(RoundUp(bytes, kCacheLine), kCacheLine);
    // Where the address space is short, a region of just this piece.
    const std::array region_sizes{std::max(RoundUp(bytes, kHugePage), kRegionBytesMin),
                                  RoundUp(bytes, kHugePage)};
    const std::lock_guard lock(mutex_);
    if (use == Use::kSent) {
      if (auto piece = TakeFrom(sent_, bytes)) {
        unshared_ = Status::Ok();
        return piece;
      }
      for (const std::size_t region_bytes : region_sizes) {
        unshared_ = AddShared(region_bytes);
        if (unshared_.ok()) return TakeFrom(sent_, bytes);
      }
      // No memfd here, or no descriptor left for it: its bytes go by the socket, as between hosts, and the
      // next piece tries again.
    }
    if (auto piece = TakeFrom(kept_, bytes)) return piece;
    for (const std::size_t region_bytes : region_sizes) {
      Result<SharedRegion> memory = SharedRegion::MakePrivate(region_bytes);
      if (!memory.ok()) continue;
      kept_.push_back({*std::move(memory), FreePieces(region_bytes), kept_.size(), Use::kKept});
      return TakeFrom(kept_, bytes);
    }
    return nullptr;
  }

  [[nodiscard]] bool forked() const { return fork_.forked(); }
  [[nodiscard]] Status unshared() const {
    const std::lock_guard lock(mutex_);
    return unshared_;
  }

  [[nodiscard]] std::optional<Place> Find(std::span<const std::byte> bytes) const {
    const std::size_t count = seen_count_.load(std::memory_order_acquire);
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    for (std::size_t i = 0; i < count; ++i) {
      const Seen& seen = seen_[i];
      if (begin < seen.base || begin - seen.base >= seen.bytes) continue;
      const std::uint64_t offset = begin - seen.base;
      if (bytes.size() > seen.bytes - offset) return std::nullopt;
      return Place{static_cast<std::uint32_t>(i), offset};
    }
    return std::nullopt;
  }

  [[nodiscard]] RegionFile FileOf(std::uint32_t region) const {
    LW_CHECK(region < seen_count_.load(std::memory_order_acquire), "region {}", region);
    return {seen_[region].fd, seen_[region].bytes};
  }

 private:
  struct Region {
    SharedRegion memory;
    FreePieces pieces;
    std::size_t index;  // in its vector, which only grows
    Use use;
  };
  // Find reads these while other threads add: an entry never changes once it is counted.
  struct Seen {
    std::uintptr_t base = 0;
    std::uint64_t bytes = 0;
    int fd = -1;
  };

  // Null if no region has so much left.
  std::shared_ptr<std::byte> TakeFrom(std::vector<Region>& regions, std::size_t bytes) {
    for (Region& region : regions) {
      if (const auto offset = region.pieces.Take(bytes)) return Piece(region, *offset, bytes);
    }
    return nullptr;
  }

  [[nodiscard]] Status AddShared(std::size_t bytes) {
    const std::size_t count = seen_count_.load(std::memory_order_relaxed);
    if (count == kSharedRegionsMax)
      return ResourceExhausted("this process has {} regions of shared memory, which is the most", count);
    LW_ASSIGN_OR_RETURN(SharedRegion memory, SharedRegion::Make(bytes));
    seen_[count] = {reinterpret_cast<std::uintptr_t>(memory.bytes().data()), memory.bytes().size(),
                    memory.read_only_fd()};
    sent_.push_back({std::move(memory), FreePieces(bytes), sent_.size(), Use::kSent});
    seen_count_.store(count + 1, std::memory_order_release);
    return Status::Ok();
  }

  std::shared_ptr<std::byte> Piece(const Region& region, std::size_t offset, std::size_t bytes) {
    std::byte* const at = region.memory.bytes().data() + offset;
    return {at, [self = shared_from_this(), index = region.index, use = region.use, offset,
                 bytes](std::byte*) { self->PutBack(use, index, offset, bytes); }};
  }

  void PutBack(Use use, std::size_t index, std::size_t offset, std::size_t bytes) {
    // The pages are the parent's too, and giving them back would make zeros of its values.
    if (fork_.forked()) return;
    const std::lock_guard lock(mutex_);
    Region& region = (use == Use::kSent ? sent_ : kept_)[index];
    region.memory.GiveBack(region.memory.bytes().subspan(offset, bytes));
    region.pieces.PutBack(offset, bytes);
  }

  const ForkGuard fork_;
  mutable std::mutex mutex_;
  Status unshared_;
  std::vector<Region> sent_, kept_;
  std::unique_ptr<Seen[]> seen_ = std::make_unique<Seen[]>(kSharedRegionsMax);
  std::atomic<std::size_t> seen_count_{0};
};

SharedArena::SharedArena() : regions_(std::make_shared<Regions>()) {}

std::shared_ptr<std::byte> SharedArena::Allocate(std::size_t bytes, Use use) {
  if (use == Use::kKept && bytes < kKeptBytesMin) return heap_.Allocate(bytes, use);
  return regions_->Allocate(bytes, use);
}

bool SharedArena::HasRoomFor(std::uint64_t bytes) const {
  if (bytes < kProbedBytesMin) return true;
  // Mapped as regions are, and given back at once.
  return SharedRegion::MakePrivate(bytes + kProbeSlackBytes).ok();
}

std::function<void()> SharedArena::Prepare(std::span<std::byte> memory) const {
  if (memory.size() < kPreparedBytesMin || regions_->forked()) return {};
  return [memory] { SharedRegion::Populate(memory); };
}

std::optional<SharedArena::Place> SharedArena::Find(std::span<const std::byte> bytes) const {
  return regions_->Find(bytes);
}

Status SharedArena::unshared() const { return regions_->unshared(); }

SharedArena::RegionFile SharedArena::FileOf(std::uint32_t region) const { return regions_->FileOf(region); }

}  // namespace leeway
