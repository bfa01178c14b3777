#include "limit.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "add_loop.h"
#include "base/errors.h"
#include "cpu.h"

namespace leeway::bench {

Limit::Limit(const Shape& shape)
    : shape_(shape),
      elements_(shape.block_bytes / sizeof(float)),
      gradients_(elements_ * shape.blocks, 1.0F),
      values_(elements_ * shape.blocks, 0.0F),
      answers_(elements_ * shape.blocks, 0.0F) {}

std::uint64_t Limit::Run(double seconds) {
  const std::uint64_t before = done_;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while ((done_ - before) % shape_.looks_every() != 0 || std::chrono::steady_clock::now() < end) {
    const std::size_t at = done_++ % shape_.blocks * elements_;
    AddLoop(values_.data() + at, gradients_.data() + at, elements_);
    std::memcpy(answers_.data() + at, values_.data() + at, elements_ * sizeof(float));
  }
  return done_ - before;
}

bool Limit::Check() const {
  for (std::size_t block = 0; block < shape_.blocks; ++block) {
    const std::uint64_t times = done_ / shape_.blocks + (block < done_ % shape_.blocks ? 1 : 0);
    // Beyond it adding 1 changes nothing.
    const auto wanted = static_cast<float>(std::min<std::uint64_t>(times, 1ULL << 24));
    const float* const answer = answers_.data() + block * elements_;
    if (!std::all_of(answer, answer + elements_, [wanted](float got) { return got == wanted; })) return false;
  }
  return true;
}

Result<std::unique_ptr<LimitJob>> LimitJob::Start(const Shape& shape, CorePlan cores) {
  auto job = std::make_unique<LimitJob>();
  job->clients_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
    PinToCore(ServerCore(cores, 0));
    Limit limit(shape);
    return Obey(parent, RunOrder([&](double seconds, LatencyHistogram&) -> Result<std::uint64_t> {
                  return limit.Run(seconds);
                }));
  }));
  LW_RETURN_IF_ERROR(HearAll(job->clients_, "ready"));
  return job;
}

}  // namespace leeway::bench
