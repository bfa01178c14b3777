#include "block/buffer_pool.h"

#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace leeway {

namespace {
constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

float* AllocateFloats(std::size_t elements) {
  // aligned_alloc wants a multiple of the alignment, and a buffer of nothing still wants an address.
  const std::size_t bytes = (elements * sizeof(float) + kAlignment) / kAlignment * kAlignment;
  void* const p = std::aligned_alloc(kAlignment, bytes);
  LW_CHECK(p != nullptr, "out of memory: wanted {} bytes", bytes);
  return static_cast<float*>(p);
}
}  // namespace

void Buffer::Free::operator()(float* p) const { std::free(p); }

Buffer::Buffer(std::size_t elements) : data_(AllocateFloats(elements)), size_(elements) {}

struct BufferPool::Shelf {
  explicit Shelf(std::uint64_t bytes_max) : spare_bytes_max(bytes_max) {}

  void PutBack(std::unique_ptr<Buffer> buffer) {
    const std::uint64_t bytes = buffer->bytes().size();
    if (closed || spare_bytes + bytes > spare_bytes_max) return;
    spare_bytes += bytes;
    spares[buffer->floats().size()].push_back(std::move(buffer));
  }

  const std::uint64_t spare_bytes_max;
  std::uint64_t spare_bytes = 0;
  bool closed = false;  // the pool is gone: what comes back is freed
  std::unordered_map<std::size_t, std::vector<std::unique_ptr<Buffer>>> spares;
};

BufferPool::BufferPool(std::uint64_t spare_bytes_max) : shelf_(std::make_shared<Shelf>(spare_bytes_max)) {}

BufferPool::~BufferPool() {
  shelf_->closed = true;
  shelf_->spares.clear();
  shelf_->spare_bytes = 0;
}

BufferRef BufferPool::Take(std::size_t elements) {
  std::unique_ptr<Buffer> buffer;
  if (const auto found = shelf_->spares.find(elements);
      found != shelf_->spares.end() && !found->second.empty()) {
    buffer = std::move(found->second.back());
    found->second.pop_back();
    shelf_->spare_bytes -= buffer->bytes().size();
  } else {
    buffer = std::make_unique<Buffer>(elements);
  }
  return {buffer.release(), [shelf = shelf_](Buffer* b) { shelf->PutBack(std::unique_ptr<Buffer>(b)); }};
}

std::uint64_t BufferPool::spare_bytes() const { return shelf_->spare_bytes; }

}  // namespace leeway
