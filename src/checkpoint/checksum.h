// Checksum: XXH3 (64 bits) over bytes that come in pieces. Checkpoints use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace leeway {

// The value does not depend on how the bytes are cut. A caller may ask value() at any time, and add more
// after it.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&& other) noexcept;
  Checksum& operator=(Checksum&& other) noexcept;
  void Add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::uint64_t ChecksumOf(std::span<const std::byte> bytes);
[[nodiscard]] std::uint64_t ChecksumOf(std::string_view text);
// As manifests and messages show it: 16 lower-case hexadecimal digits.
[[nodiscard]] std::string ChecksumText(std::uint64_t checksum);

}  // namespace leeway
