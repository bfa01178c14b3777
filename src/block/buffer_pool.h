// BufferPool: float buffers that blocks, landings and sends share by reference and that return for reuse.
//
// Belongs to one shard and its thread; buffers may be dropped on that thread only, and may outlive the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace leeway {

class Buffer {
 public:
  explicit Buffer(std::size_t elements);
  [[nodiscard]] std::span<float> floats() { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const float> floats() const { return {data_.get(), size_}; }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(floats()); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(floats()); }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_;  // 64-byte aligned, not initialized
  std::size_t size_;
};

using BufferRef = std::shared_ptr<Buffer>;  // shared: versions are held by blocks and by sends under way
using ConstBufferRef = std::shared_ptr<const Buffer>;

class BufferPool {
 public:
  explicit BufferPool(std::uint64_t spare_bytes_max);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  // A buffer of exactly `elements` floats with unspecified contents.
  [[nodiscard]] BufferRef Take(std::size_t elements);
  [[nodiscard]] std::uint64_t spare_bytes() const;

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;  // shared with every buffer handed out, which returns to it
};

}  // namespace leeway
