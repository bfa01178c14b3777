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
constexpr double kCompensationMax = 1e6;
// Each is as large as the block. Eight workers at most are compensated in full, more in part.
constexpr std::int64_t kVersionsDefault = 8;
constexpr std::int64_t kVersionsMax = 1024;

Result<bool> IsOrdered(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::string reduce,
                      config.KeyedOneOf("reduce", {"arrival", "ordered"}, "arrival"));
  return reduce == "ordered";
}

Result<ApplyMode> MakeRelay(std::string_view text, const PolicyConfig& config, const SyncModel& model) {
  ApplyMode mode{.kind = ApplyMode::Kind::kAggregate, .window = kWindowMin, .relay = true};
  LW_ASSIGN_OR_RETURN(mode.ordered, IsOrdered(config));
  // A worker that ran ahead, or left an iteration out, would lack a mean that the others have stepped with.
  if (model.Lead() != 0 || model.SumsAhead() || model.ForWorker() != WorkerRule{}) {
    return InvalidArgument(
        "apply \"{}\": workers step by themselves, each with the mean of every iteration, so they wait for "
        "each other: got a sync model whose pull condition is \"{}\", wanted bsp; use sync \"bsp\", or apply "
        "immediate or aggregate with an optimizer of the servers",
        text, model.PullCondition());
  }
  return mode;
}

Result<ApplyMode> MakeAggregate(std::string_view text, const PolicyConfig& config, const SyncModel& model) {
  ApplyMode mode{.kind = ApplyMode::Kind::kAggregate};
  LW_ASSIGN_OR_RETURN(mode.ordered, IsOrdered(config));
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

Result<ApplyMode> MakeImmediate(std::string_view text, const PolicyConfig& config, const SyncModel& model) {
  ApplyMode mode{.kind = ApplyMode::Kind::kImmediate};
  if (model.SumsAhead()) {
    return InvalidArgument(
        "apply \"{}\": the sync model sums gradients of later iterations into the one under way, which "
        "immediate has not; use aggregate, or ahead=keep",
        text);
  }
  LW_ASSIGN_OR_RETURN(const std::string scale, config.KeyedOneOf("scale", {"none", "staleness"}, "none"));
  mode.scale_by_staleness = scale == "staleness";
  LW_ASSIGN_OR_RETURN(const double dc, config.DoubleInRange("dc", 0.0, kCompensationMax, 0.0));
  mode.dc = static_cast<float>(dc);
  constexpr std::int64_t kNotGiven = 0;
  LW_ASSIGN_OR_RETURN(const std::int64_t versions,
                      config.KeyedIntInRange("dc_versions", 1, kVersionsMax, kNotGiven));
  if (versions != kNotGiven && mode.dc <= 0.0F) {
    return InvalidArgument(
        "apply \"{}\": got dc_versions={} without dc, wanted both, as in dc=0.04,dc_versions={}", text,
        versions, versions);
  }
  if (mode.dc > 0.0F)
    mode.dc_versions = static_cast<std::size_t>(versions == kNotGiven ? kVersionsDefault : versions);
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
  } else if (config.name() == "immediate") {
    LW_ASSIGN_OR_RETURN(mode, MakeImmediate(text, config, model));
  } else if (config.name() == "relay") {
    LW_ASSIGN_OR_RETURN(mode, MakeRelay(text, config, model));
  } else {
    const std::vector<std::string> known = {"aggregate", "immediate", "relay"};
    return InvalidArgument("unknown apply mode \"{}\"; known: aggregate, immediate, relay{}", config.name(),
                           DidYouMean(config.name(), known));
  }
  LW_RETURN_IF_ERROR(config.Finish());
  return mode;
}

bool NamesRelay(std::string_view spec) { return spec == "relay" || spec.starts_with("relay:"); }

}  // namespace leeway
