// Policies as the command line sees them: which there are, and whether the ones named fit each other.
//
// Checked here so that a slip is found before anything is started; the scheduler checks again, for it trusts
// nobody. `policies` are those of Leeway itself, and of the plug-ins that a command has loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "assembly/policies.h"
#include "cli/flag_set.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

// The names known without plug-ins, as in "asp, bsp, ssp".
[[nodiscard]] std::string KnownSyncModels();
[[nodiscard]] std::string KnownExchanges();
[[nodiscard]] std::string KnownOptimizers();
[[nodiscard]] std::string KnownPlacements();

[[nodiscard]] Status CheckSync(const Policies& policies, const std::string& spec);
// Of a command that loads no plug-ins.
[[nodiscard]] Status CheckBuiltinSync(const std::string& spec);
[[nodiscard]] Status CheckPlacement(const Policies& policies, const std::string& spec);
[[nodiscard]] Status CheckPull(const std::string& spec);
[[nodiscard]] Status CheckExchange(const Policies& policies, const std::string& spec);
// One of these as the check of a flag. Borrows `policies` for the flag's life.
using PolicyCheck = Status (*)(const Policies& policies, const std::string& spec);
[[nodiscard]] Check With(const Policies& policies, PolicyCheck check);
// One rule by itself: its words, its specs and whether they fit each other. CheckRules checks what it asks of
// the job.
[[nodiscard]] Status CheckRule(const Policies& policies, const std::string& rule);
// Whether a job with so many workers, and with this way to pull and to exchange, can have it.
[[nodiscard]] Status CheckInJob(const Policies& policies, const std::string& sync, const JobOptions& job);
// The job's rules against its own sync and apply, workers and servers; on an error `which` of them it is.
[[nodiscard]] Status CheckRules(const Policies& policies, const JobOptions& job, std::size_t& which);
// Whether `apply` (empty: the model's own default) fits `sync`.
[[nodiscard]] Status CheckApply(const Policies& policies, const std::string& sync, const std::string& apply);
// The apply mode of tables under `sync` that name none; empty when `sync` is no spec, or of a plug-in's
// model.
[[nodiscard]] std::string DefaultApplyOf(const std::string& sync);

}  // namespace leeway::app
