// ConditionRule: the rule that SetCondPull and SetCondPush send to the scheduler. A rule sets both conditions
// of its tables, so it repeats the condition that the user does not give.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/registry.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

enum class SyncCondition : std::uint8_t { kPull, kPush };

// Returns the rule that gives `tables` (a glob) the formula as this condition. `syncs`: the specs of their
// present models. An error, which names `call`, if the other condition is no formula or differs among them.
[[nodiscard]] Result<std::string> ConditionRule(const Registry<SyncModel>& models, const char* call,
                                                SyncCondition given, const std::string& tables,
                                                const std::string& formula,
                                                std::span<const std::string> syncs);

}  // namespace leeway
