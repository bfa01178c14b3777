#include "node/worker/gradient_sum.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "optimizer/kernels.h"

namespace leeway {

std::span<const float> GradientSum::values() const {
  return empty() ? std::span<const float>() : std::as_const(*values_).floats();
}

void GradientSum::Add(const LentGradient& gradient, BufferPool& pool) {
  if (empty()) {
    values_ = pool.Take(gradient.values.size(), Arena::Use::kSent);
    std::copy(gradient.values.begin(), gradient.values.end(), values_->floats().begin());
    samples_ = gradients_ = 0;
  } else {
    kernels::AddScaled(values_->floats(), gradient.values, 1.0F);
  }
  hyper_ = gradient.hyper;
  const std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - samples_;
  samples_ += std::min(gradient.samples, room);
  ++gradients_;
}

LentGradient GradientSum::Take() {
  LW_CHECK(!empty(), "nothing has added up");
  LentGradient sum;
  sum.values = values();
  sum.pin = std::exchange(values_, nullptr);
  sum.hyper = hyper_;
  sum.samples = std::max(samples_ / gradients_, 1U);
  return sum;
}

}  // namespace leeway
