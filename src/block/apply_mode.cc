#include "block/apply_mode.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/policy_config.h"
#include "base/spec.h"

namespace leeway {
namespace {

constexpr std::int64_t kWindowMin =
    2;  // the iteration being collected, and the one that the fastest may have begun
constexpr std::int64_t kWindowMax = 1'000'002;

Result<ApplyMode> MakeAggregate(std::string_view text, const PolicyConfig& config, const SyncModel& model) {
  ApplyMode mode{.kind = ApplyMode::Kind::kAggregate};
  LW_ASSIGN_OR_RETURN(const std::string reduce,
                      config.KeyedOneOf("reduce", {"arrival", "ordered"}, "arrival"));
  mode.ordered = reduce == "ordered";
  constexpr std::int64_t kNotGiven = 0;
  LW_ASSIGN_OR_RETURN(const std::int64_t window, config.KeyedIntInRange("window", 1, kWindowMax, kNotGiven));
  const std::optional<std::int64_t> lead = model.Lead();
  if (!lead) {
    return InvalidArgument(
        "apply \"{}\": aggregate needs a sync model that bounds how far a worker runs ahead (bsp, ssp); use "
        "immediate",
        text);
  }
  const std::int64_t needed = std::max(kWindowMin, *lead + 2);
  if (window != kNotGiven && window < needed) {
    return InvalidArgument(
        "apply \"{}\": got window={}, wanted at least {} (the sync model lets workers run {} ahead)", text,
        window, needed, *lead);
  }
  mode.window = window == kNotGiven ? needed : window;
  return mode;
}

}  // namespace

Result<ApplyMode> MakeApplyMode(std::string_view spec, const SyncModel& model) {
  const std::string text(spec.empty() ? model.DefaultApply() : spec);
  LW_ASSIGN_OR_RETURN(Spec parsed, ParseSpec(text));
  if (parsed.terms.size() != 1) {
    return InvalidArgument("apply \"{}\": got {} terms, wanted one", text, parsed.terms.size());
  }
  const PolicyConfig config("apply mode", parsed.terms[0]);
  ApplyMode mode;
  if (config.name() == "aggregate") {
    LW_ASSIGN_OR_RETURN(mode, MakeAggregate(text, config, model));
  } else if (config.name() != "immediate") {
    const std::vector<std::string> known = {"aggregate", "immediate"};
    return NotFound("unknown apply mode \"{}\"; known: aggregate, immediate{}", config.name(),
                    DidYouMean(config.name(), known));
  }
  LW_RETURN_IF_ERROR(config.Finish());
  return mode;
}

}  // namespace leeway
