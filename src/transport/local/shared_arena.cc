#include "transport/local/shared_arena.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "transport/local/free_pieces.h"
#include "transport/local/shared_region.h"

namespace leeway {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Address space of a region. Untouched pages cost nothing.
constexpr std::size_t kRegionBytesMin = std::size_t{1} << 28;
// Kept pieces below this come from the heap.
constexpr std::size_t kKeptBytesMin = std::size_t{1} << 18;
constexpr std::size_t kSharedRegionsMax = 4096;

std::size_t RoundUp(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

class SharedArena::Regions : public std::enable_shared_from_this<Regions> {
 public:
  std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) {
    bytes = std::max(RoundUp(bytes, kCacheLine), kCacheLine);
    const std::lock_guard lock(mutex_);
    std::vector<Region>& regions = use == Use::kSent ? sent_ : kept_;
    for (Region& region : regions) {
      if (const auto offset = region.pieces.Take(bytes)) return Piece(region, *offset, bytes);
    }
    Region& added = Add(use, std::max(RoundUp(bytes, kHugePage), kRegionBytesMin));
    return Piece(added, *added.pieces.Take(bytes), bytes);
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
  // What Find reads, while others add: an entry never changes once it is counted.
  struct Seen {
    std::uintptr_t base = 0;
    std::uint64_t bytes = 0;
    int fd = -1;
  };

  Region& Add(Use use, std::size_t bytes) {
    std::vector<Region>& regions = use == Use::kSent ? sent_ : kept_;
    Result<SharedRegion> memory =
        use == Use::kSent && shares_ ? SharedRegion::Make(bytes) : SharedRegion::MakePrivate(bytes);
    if (!memory.ok() && use == Use::kSent) {
      shares_ = false;  // no memfd here: frames go by the socket, as between hosts
      memory = SharedRegion::MakePrivate(bytes);
    }
    LW_CHECK(memory.ok(), "out of memory: {}", memory.status().message());
    regions.push_back({*std::move(memory), FreePieces(bytes), regions.size(), use});
    if (const SharedRegion& made = regions.back().memory; made.read_only_fd() >= 0) {
      const std::size_t count = seen_count_.load(std::memory_order_relaxed);
      LW_CHECK(count < kSharedRegionsMax, "{} regions", count);
      seen_[count] = {reinterpret_cast<std::uintptr_t>(made.bytes().data()), made.bytes().size(),
                      made.read_only_fd()};
      seen_count_.store(count + 1, std::memory_order_release);
    }
    return regions.back();
  }

  std::shared_ptr<std::byte> Piece(const Region& region, std::size_t offset, std::size_t bytes) {
    std::byte* const at = region.memory.bytes().data() + offset;
    return {at, [self = shared_from_this(), index = region.index, use = region.use, offset,
                 bytes](std::byte*) { self->PutBack(use, index, offset, bytes); }};
  }

  void PutBack(Use use, std::size_t index, std::size_t offset, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Region& region = (use == Use::kSent ? sent_ : kept_)[index];
    region.memory.GiveBack(region.memory.bytes().subspan(offset, bytes));
    region.pieces.PutBack(offset, bytes);
  }

  std::mutex mutex_;
  bool shares_ = true;
  std::vector<Region> sent_, kept_;
  std::unique_ptr<Seen[]> seen_ = std::make_unique<Seen[]>(kSharedRegionsMax);
  std::atomic<std::size_t> seen_count_{0};
};

SharedArena::SharedArena() : regions_(std::make_shared<Regions>()) {}

std::shared_ptr<std::byte> SharedArena::Allocate(std::size_t bytes, Use use) {
  if (use == Use::kKept && bytes < kKeptBytesMin) return heap_.Allocate(bytes, use);
  return regions_->Allocate(bytes, use);
}

std::optional<SharedArena::Place> SharedArena::Find(std::span<const std::byte> bytes) const {
  return regions_->Find(bytes);
}

SharedArena::RegionFile SharedArena::FileOf(std::uint32_t region) const { return regions_->FileOf(region); }

}  // namespace leeway
