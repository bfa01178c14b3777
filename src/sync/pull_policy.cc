#include "sync/pull_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/policy_config.h"
#include "base/spec.h"
#include "sync/milliseconds.h"

namespace leeway {
namespace {

struct LateName {
  std::string_view name;
  PullPolicy::Late late;
};
constexpr LateName kLateNames[] = {{"take", PullPolicy::Late::kTake},
                                   {"drop", PullPolicy::Late::kDrop},
                                   {"withdraw", PullPolicy::Late::kWithdraw}};

}  // namespace

Result<PullPolicy> ParsePullPolicy(std::string_view spec) {
  LW_ASSIGN_OR_RETURN(const PolicyConfig config, PolicyConfig::OfOneTerm("pull policy", spec));
  PullPolicy policy;
  if (config.name() == "partial") {
    policy.partial = true;
    LW_ASSIGN_OR_RETURN(policy.share_min, config.DoubleInRange("b", 0.0, 1.0));
    LW_ASSIGN_OR_RETURN(policy.tau, MillisecondsOf(config, "tau_ms"));
    LW_ASSIGN_OR_RETURN(policy.skip_max, config.KeyedIntInRange("skip_max", 0, 1'000'000, policy.skip_max));
    const auto name_of = [](const LateName& each) { return std::string(each.name); };
    std::vector<std::string> names;
    std::ranges::transform(kLateNames, std::back_inserter(names), name_of);
    LW_ASSIGN_OR_RETURN(const std::string late, config.KeyedOneOf("late_pull", names, "take"));
    policy.late = std::ranges::find(kLateNames, late, &LateName::name)->late;
  } else if (config.name() != "full") {
    return config.UnknownName({"full", "partial"});
  }
  LW_RETURN_IF_ERROR(config.Finish());
  return policy;
}

std::string ToText(const PullPolicy& policy) {
  if (!policy.partial) return "full";
  return PrintSpec(
      {{{"partial",
         {{"b", fmt::format("{}", policy.share_min)},
          {"tau_ms", fmt::format("{}", InMilliseconds(policy.tau))},
          {"skip_max", fmt::format("{}", policy.skip_max)},
          {"late_pull", std::string(std::ranges::find(kLateNames, policy.late, &LateName::late)->name)}},
         {}}}});
}

}  // namespace leeway
