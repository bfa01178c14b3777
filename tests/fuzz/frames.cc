// Any stream of bytes, however it is cut: no crash, and the same frames as from the whole stream at once.
//
// Input: a byte for the size of staging, a byte for the cuts, then the stream.
#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "fuzz_target.h"
#include "wire/frame.h"

namespace leeway::wire {
namespace {

constexpr FrameLimits kFuzzLimits{1 << 12, 1 << 13, FrameLimits::Carriers::kAll};

class HashingSink final : public FrameSink {
 public:
  explicit HashingSink(std::uint64_t seed) : random_(seed) {}

  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte>) override {
    Landing landing;
    if (head.readable && random_() % 2 == 0) {
      landing.in_place = true;
      return landing;
    }
    const auto buffer = std::make_shared<std::vector<std::byte>>(head.payload_bytes);
    landing.lease = buffer;
    for (std::span<std::byte> rest(*buffer); !rest.empty();) {
      const std::size_t n = std::min<std::size_t>(rest.size(), random_() % 2'000);
      landing.places.push_back(rest.first(n));
      rest = rest.subspan(n);
    }
    return landing;
  }
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override {
    LW_CHECK(body.size() == head.body_bytes);
    hash_ = Hash64({hash_, head.kind, head.body_bytes, head.payload_bytes});
    Add(body);
    for (const std::span<const std::byte> place : landing.places) Add(place);
    for (const std::span<const std::byte> view : landing.views) Add(view);
  }
  Status OnCarried(const FrameHead& head, std::span<const std::byte> body) override {
    LW_CHECK(body.size() == head.body_bytes && head.carrier != kInStream);
    hash_ = Hash64({hash_, head.kind, head.carrier, head.payload_bytes});
    Add(body);
    return Status::Ok();
  }
  [[nodiscard]] bool KeepReading() const override { return true; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  void Add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) hash_ = hash_ * 1099511628211ULL ^ std::to_integer<std::uint64_t>(b);
  }

  std::minstd_rand random_;
  std::uint64_t hash_ = 0;
};

struct Outcome {
  std::uint64_t hash;
  StatusCode code;
  bool at_boundary;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome Read(std::span<const std::byte> stream, std::size_t staging_bytes, std::size_t chunk_max,
             std::uint64_t seed) {
  std::minstd_rand random(seed);
  HashingSink sink(seed);
  FrameReader reader(sink, staging_bytes);
  reader.SetLimits(kFuzzLimits);
  Status status;
  while (!stream.empty() && status.ok()) {
    const std::span<std::byte> space = reader.Space();
    LW_CHECK(!space.empty());
    const std::size_t n = std::min({space.size(), stream.size(), std::size_t{1} + random() % chunk_max});
    std::copy_n(stream.begin(), n, space.begin());
    status = reader.Commit(n);
    stream = stream.subspan(n);
  }
  return {sink.hash(), status.code(), reader.AtBoundary()};
}

}  // namespace
}  // namespace leeway::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t staging_bytes = std::size_t{16} << (data[0] % 10);
  const std::size_t chunk_max = std::size_t{1} << (data[1] % 14);
  const auto stream = std::as_bytes(std::span(data, size)).subspan(2);
  const auto cut = leeway::wire::Read(stream, staging_bytes, chunk_max, data[1]);
  const auto whole = leeway::wire::Read(stream, stream.size(), std::size_t{1} << 30, 0);
  LW_CHECK(cut == whole, "cut: {} {}, whole: {} {}", cut.hash, static_cast<int>(cut.code), whole.hash,
           static_cast<int>(whole.code));
  return 0;
}
