// when_stale: a table is exchanged when the next iteration would read values that lack more than `s` of the
// worker's own iterations. With `ssp:s` this is the stale synchronous parallelism of the modularized
// parameter server (its code 4.4).
#include "base/policy_config.h"
#include "leeway/exchange.h"

namespace leeway {
namespace {

class WhenStale final : public ExchangePolicy {
 public:
  explicit WhenStale(std::int64_t s) : s_(s) {}
  bool IsDue(const ExchangeView& view) const override {
    const std::optional<std::int64_t> age = view.Age();
    return !age || *age > s_;
  }

 private:
  const std::int64_t s_;
};

}  // namespace

Result<ExchangePolicyPtr> MakeWhenStale(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 1'000'000));
  return ExchangePolicyPtr(std::make_unique<WhenStale>(s));
}

}  // namespace leeway
