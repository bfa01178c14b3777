// ByteReader and ByteWriter: read and write little-endian values in byte spans; every read checks its bounds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace leeway {

static_assert(std::endian::native == std::endian::little, "a big-endian port needs byte swaps here");

// A read past the end gives zeros and makes ok() false for good, so a decoder may check once at its end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T Read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      at_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

class ByteWriter {
 public:
  // Appends to `out`. REQUIRES: `out` outlives the writer.
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  template <typename T>
  void Write(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(T));
    std::memcpy(out_.data() + at, &value, sizeof(T));
  }

 private:
  std::vector<std::byte>& out_;
};

}  // namespace leeway
