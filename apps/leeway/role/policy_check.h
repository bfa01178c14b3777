// Policies as the command line sees them: which there are, and whether the ones named fit each other.
//
// Checked here so that a slip is found before anything is started; the scheduler checks again, for it trusts
// nobody.
#pragma once

#include <string>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

// "asp, bsp, ssp"
[[nodiscard]] std::string KnownSyncModels();
[[nodiscard]] std::string KnownOptimizers();
[[nodiscard]] std::string KnownPlacements();

[[nodiscard]] Status CheckSync(const std::string& spec);
[[nodiscard]] Status CheckPlacement(const std::string& spec);
// The apply mode of tables under `sync` that name none; empty when `sync` is no spec.
[[nodiscard]] std::string DefaultApplyOf(const std::string& sync);
// Whether `apply` (empty: the model's own default) fits `sync`.
[[nodiscard]] Status CheckApply(const std::string& sync, const std::string& apply);

}  // namespace leeway::app
