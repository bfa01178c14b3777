// every: a table is exchanged in iterations k - 1, 2k - 1, ...
#include "base/policy_config.h"
#include "leeway/exchange.h"

namespace leeway {
namespace {

class Every final : public ExchangePolicy {
 public:
  explicit Every(std::int64_t k) : k_(k) {}
  bool IsDue(const ExchangeView& view) const override {
    // A worker that passed over the iteration makes up for it in the next one.
    return (view.iteration().value() + 1) / k_ > (view.exchanged().value() + 1) / k_;
  }
  bool EveryIteration() const override { return k_ == 1; }

 private:
  const std::int64_t k_;
};

}  // namespace

Result<ExchangePolicyPtr> MakeEvery(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t k, config.IntInRange("k", 1, 1'000'000));
  return ExchangePolicyPtr(std::make_unique<Every>(k));
}

}  // namespace leeway
