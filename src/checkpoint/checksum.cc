#include "checkpoint/checksum.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace leeway {

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&& other) noexcept = default;
Checksum& Checksum::operator=(Checksum&& other) noexcept = default;

void Checksum::Add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}
std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

std::uint64_t ChecksumOf(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
std::uint64_t ChecksumOf(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
std::string ChecksumText(std::uint64_t checksum) { return fmt::format("{:016x}", checksum); }

}  // namespace leeway
