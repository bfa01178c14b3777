#include "scenario/sync_switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"
#include "sim/nanoseconds.h"

namespace leeway::scenario {
namespace {

constexpr double kSwitchSecondsMax = 365.0 * 86'400;
constexpr std::string_view kAt = "at=";
constexpr std::chrono::seconds kPatience{1};

std::optional<SyncSwitch> ParseSwitch(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  if (!word.starts_with(kAt) || space == text.size()) return std::nullopt;
  const auto at_s = NumberFrom<double>(word.substr(kAt.size()));
  // NaN fails both comparisons.
  if (!at_s || !(*at_s >= 0 && *at_s <= kSwitchSecondsMax)) return std::nullopt;
  return SyncSwitch{.at_s = *at_s, .rule = std::string(text.substr(space + 1))};
}

}  // namespace

Result<std::vector<SyncSwitch>> SyncSwitchesOf(const Scenario& scenario) {
  std::vector<SyncSwitch> all;
  for (const std::string& text : scenario.switches) {
    std::optional<SyncSwitch> read = ParseSwitch(text);
    if (!read) {
      return InvalidArgument("{}: got \"{}\", wanted \"at=SECONDS RULE\": at=150 sync=asp",
                             KeyWithPlace(scenario, "policies.switches"), text);
    }
    all.push_back(*std::move(read));
  }
  return all;
}

void SyncSwitches::Start() {
  for (const SyncSwitch& change : all_)
    cluster_.queue().After(sim::SecondsAsDuration(change.at_s), [this, &change] { Ask(change); });
}

void SyncSwitches::Ask(const SyncSwitch& change) {
  const std::optional<std::uint32_t> rank = processes_.FirstInTraining();
  if (!rank) return;
  // Shared, because a process that dies takes its callback along, and this object still waits.
  const auto is_open = std::make_shared<bool>(true);
  cluster_.worker(*rank).SetSync(change.rule, [this, &change, is_open](const Status& status, std::uint32_t) {
    *is_open = false;
    if (status.ok()) return;
    // A fault came between the worker and the scheduler.
    if (books_.deaths > 0 && status.code() != StatusCode::kInvalidArgument) return AskLater(change);
    books_.errors.push_back(fmt::format("policies.switches: \"{}\": {}", change.rule, status.ToString()));
  });
  Watch(change, is_open, books_.deaths);
}

void SyncSwitches::AskLater(const SyncSwitch& change) {
  cluster_.queue().After(kPatience, [this, &change] { Ask(change); });
}

void SyncSwitches::Watch(const SyncSwitch& change, const std::shared_ptr<bool>& is_open,
                         std::uint64_t deaths) {
  cluster_.queue().After(kPatience, [this, &change, is_open, deaths] {
    if (!*is_open) return;
    if (books_.deaths > deaths) return Ask(change);
    Watch(change, is_open, deaths);
  });
}

}  // namespace leeway::scenario
