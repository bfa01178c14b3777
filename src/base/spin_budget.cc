#include "base/spin_budget.h"

#include <algorithm>

namespace leeway {
namespace {

// The number of spins between two looks at the thread's cores, which change rarely.
constexpr std::uint32_t kSpinsPerLook = 256;

}  // namespace

SpinBudget::SpinBudget(const SpinWorld& world, const Options& options)
    : world_(world),
      options_(options),
      budget_ns_(options.most_ns),
      preempted_rest_ns_(options.preempted_rest_min_ns),
      next_rest_(options.rest_min) {}

bool SpinBudget::Begin() {
  if (rest_ > 0) {
    --rest_;
    return false;
  }
  if (spins_++ % kSpinsPerLook == 0) {
    one_core_ = world_.Cores() <= 1;
  }
  if (shared_ && one_core_) return false;
  const std::int64_t now_ns = world_.NowNs();
  if (now_ns < no_spin_before_ns_) return false;
  end_ns_ =
      now_ns + (work_ns_ < options_.heavy_ns ? budget_ns_ : std::min(budget_ns_, options_.heavy_most_ns));
  preemptions_ = -1;
  return true;
}

// From here on the kernel's count is of this spin: a short one is over before it is worth a look.
void SpinBudget::Continue() {
  if (preemptions_ < 0) preemptions_ = world_.Preemptions();
}

void SpinBudget::End(bool found) {
  if (preemptions_ < 0) return;  // it was there at once: that says nothing of waiting
  if (world_.Preemptions() > preemptions_) {
    no_spin_before_ns_ = world_.NowNs() + preempted_rest_ns_;
    preempted_rest_ns_ = std::min(preempted_rest_ns_ * 2, options_.preempted_rest_max_ns);
    misses_ = 0;
    return;
  }
  if (found) {
    misses_ = 0;
    budget_ns_ = std::min(budget_ns_ * 2, options_.most_ns);
    next_rest_ = options_.rest_min;
    preempted_rest_ns_ = options_.preempted_rest_min_ns;
    return;
  }
  budget_ns_ = std::max(budget_ns_ / 2, options_.least_ns);
  if (++misses_ < options_.misses_max) return;
  rest_ = next_rest_;
  next_rest_ = std::min(next_rest_ * 2, options_.rest_max);
  // Then one try with the whole budget: if both ends sleep, answers take longer than with this end spinning.
  misses_ = options_.misses_max - 1;
  budget_ns_ = options_.most_ns;
}

}  // namespace leeway
