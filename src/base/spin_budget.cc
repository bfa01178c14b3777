#include "base/spin_budget.h"

#include <algorithm>

namespace leeway {
namespace {

// Spins between two looks at where the thread may run, which changes rarely.
constexpr std::uint32_t kSpinsPerLook = 256;

}  // namespace

SpinBudget::SpinBudget(const SpinWorld& world, const Options& options)
    : world_(world), options_(options), budget_ns_(options.most_ns), next_rest_(options.rest_min) {}

bool SpinBudget::Begin() {
  if (rest_ > 0) {
    --rest_;
    return false;
  }
  if (spins_++ % kSpinsPerLook == 0) {
    one_core_ = world_.Cores() <= 1;
    (void)WasPreempted();  // what was before does not count against what comes
  }
  if (shared_ && one_core_) return false;
  const std::int64_t now_ns = world_.NowNs();
  if (now_ns < no_spin_before_ns_) return false;
  end_ns_ = now_ns + budget_ns_;
  return true;
}

void SpinBudget::End(bool found, bool long_enough) {
  if (long_enough && WasPreempted()) {
    no_spin_before_ns_ = world_.NowNs() + options_.preempted_rest_ns;
    misses_ = 0;
    return;
  }
  if (found) {
    misses_ = 0;
    budget_ns_ = std::min(budget_ns_ * 2, options_.most_ns);
    next_rest_ = options_.rest_min;
    return;
  }
  budget_ns_ = std::max(budget_ns_ / 2, options_.least_ns);
  if (++misses_ < options_.misses_max) return;
  misses_ = 0;
  rest_ = next_rest_;
  next_rest_ = std::min(next_rest_ * 2, options_.rest_max);
}

bool SpinBudget::WasPreempted() {
  const std::int64_t now = world_.Preemptions();
  const bool grew = preemptions_ >= 0 && now > preemptions_;
  preemptions_ = now;
  return grew;
}

}  // namespace leeway
