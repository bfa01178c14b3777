// significant: a table is exchanged when its added-up gradient is large beside its values, |g| / |w| > t
// (Gaia; FluentPS, section III-E).
#include <limits>

#include "base/policy_config.h"
#include "leeway/exchange.h"

namespace leeway {
namespace {

class Significant final : public ExchangePolicy {
 public:
  explicit Significant(double t) : t_(t) {}
  bool IsDue(const ExchangeView& view) const override {
    const std::optional<double> significance = view.Significance();
    // A table that this worker has no gradient for is due: otherwise the worker would never see the changes
    // of others.
    return !significance || *significance > t_;
  }

 private:
  const double t_;
};

}  // namespace

Result<ExchangePolicyPtr> MakeSignificant(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const double t, config.DoubleInRange("t", 0.0, std::numeric_limits<double>::max()));
  return ExchangePolicyPtr(std::make_unique<Significant>(t));
}

}  // namespace leeway
