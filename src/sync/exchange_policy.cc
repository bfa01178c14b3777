#include "sync/exchange_policy.h"

#include <fmt/format.h>

#include <limits>

#include "base/policy_config.h"
#include "base/spec.h"

namespace leeway {

Result<ExchangePolicy> ParseExchangePolicy(std::string_view spec) {
  constexpr std::int64_t kMax = 1'000'000;
  LW_ASSIGN_OR_RETURN(const PolicyConfig config, PolicyConfig::OfOneTerm("exchange policy", spec));
  ExchangePolicy policy;
  if (config.name() == "every") {
    LW_ASSIGN_OR_RETURN(policy.every, config.IntInRange("k", 1, kMax));
  } else if (config.name() == "when_stale") {
    policy.kind = ExchangePolicy::Kind::kWhenStale;
    LW_ASSIGN_OR_RETURN(policy.stale_max, config.IntInRange("s", 0, kMax));
  } else if (config.name() == "significant") {
    policy.kind = ExchangePolicy::Kind::kSignificant;
    LW_ASSIGN_OR_RETURN(policy.significance_min,
                        config.DoubleInRange("t", 0.0, std::numeric_limits<double>::max()));
  } else {
    return config.UnknownName({"every", "when_stale", "significant"});
  }
  LW_RETURN_IF_ERROR(config.Finish());
  return policy;
}

std::string ToText(const ExchangePolicy& policy) {
  switch (policy.kind) {
    case ExchangePolicy::Kind::kEvery:
      return fmt::format("every:{}", policy.every);
    case ExchangePolicy::Kind::kWhenStale:
      return fmt::format("when_stale:{}", policy.stale_max);
    case ExchangePolicy::Kind::kSignificant:
      break;
  }
  // PrintSpec quotes 1e+20, which a spec needs.
  return PrintSpec({{{"significant", {{"", fmt::format("{}", policy.significance_min)}}, {}}}});
}

}  // namespace leeway
