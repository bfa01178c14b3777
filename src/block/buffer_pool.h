// BufferPool: float buffers that blocks, landings and sends share by reference and that return for reuse.
//
// Belongs to one shard and its thread; buffers may be dropped on that thread only, and may outlive the pool.
// In the steady state taking one allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "leeway/arena.h"

namespace leeway {

class Buffer {
 public:
  explicit Buffer(std::size_t elements);  // from the heap, of no pool
  Buffer(std::size_t elements, std::shared_ptr<std::byte> memory)
      : memory_(std::move(memory)), data_(reinterpret_cast<float*>(memory_.get())), size_(elements) {}
  [[nodiscard]] std::span<float> floats() { return {data_, size_}; }
  [[nodiscard]] std::span<const float> floats() const { return {data_, size_}; }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(floats()); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(floats()); }

 private:
  std::shared_ptr<std::byte> memory_;  // as the arena gives it: 64-byte aligned, not initialized
  float* data_;
  std::size_t size_;
};

using BufferRef = std::shared_ptr<Buffer>;  // shared: versions are held by blocks and by sends under way
using ConstBufferRef = std::shared_ptr<const Buffer>;

class BufferPool {
 public:
  // From the heap.
  explicit BufferPool(std::uint64_t spare_bytes_max);
  // From `arena`, which outlives the pool.
  BufferPool(std::uint64_t spare_bytes_max, Arena& arena);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  // A buffer of exactly `elements` floats with unspecified contents, or null if there is no memory. Values
  // that workers pull are kSent.
  [[nodiscard]] BufferRef Take(std::size_t elements, Arena::Use use = Arena::Use::kKept);
  // As Arena::HasRoomFor.
  [[nodiscard]] bool HasRoomFor(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t spare_bytes() const;

 private:
  class Shelf;
  Shelf* const shelf_;  // lives until it is closed and every buffer has returned to it
};

}  // namespace leeway
