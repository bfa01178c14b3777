// Any text as a sync rule, a pull policy and an exchange policy: no crash, an error says why, and what is
// accepted comes back equal from its own text.
#include <string_view>

#include "base/check.h"
#include "base/spec.h"
#include "exchange/exchanges.h"
#include "fuzz_target.h"
#include "sync/pull_policy.h"
#include "sync/sync_rules.h"

namespace {

template <typename Parse>
void CheckRoundTrip(const Parse& parse, std::string_view text) {
  const auto value = parse(text);
  if (!value.ok()) {
    LW_CHECK(!value.status().message().empty());
    return;
  }
  const auto again = parse(leeway::ToText(*value));
  LW_CHECK(again.ok() && *again == *value, "{}", leeway::ToText(*value));
}

void CheckExchangeRoundTrip(std::string_view text) {
  static const leeway::Registry<leeway::ExchangePolicy> exchanges = leeway::BuiltinExchanges();
  leeway::SpecTerm term, again;
  const auto policy = exchanges.MakeFromSpec(text, &term);
  if (!policy.ok()) {
    LW_CHECK(!policy.status().message().empty());
    return;
  }
  const std::string printed = leeway::PrintSpec({{term}});
  LW_CHECK(exchanges.MakeFromSpec(printed, &again).ok() && again == term, "{}", printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckRoundTrip(leeway::ParseSyncRule, text);
  CheckRoundTrip(leeway::ParsePullPolicy, text);
  CheckExchangeRoundTrip(text);
  if (const auto rule = leeway::ParseSyncRule(text); rule.ok()) (void)leeway::Fits(*rule, "fc1.weight", 1);
  return 0;
}
