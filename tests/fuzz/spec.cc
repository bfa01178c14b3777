// Any text as a spec: no crash, an accepted text prints as an equal spec, and a policy may ask it for any
// argument.
#include "base/spec.h"

#include <string_view>

#include "base/check.h"
#include "base/policy_config.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using leeway::Result;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<leeway::Spec> spec = leeway::ParseSpec(text);
  if (!spec.ok()) {
    LW_CHECK(!spec.status().message().empty());
    return 0;
  }
  const Result<leeway::Spec> again = leeway::ParseSpec(leeway::PrintSpec(*spec));
  // Quotes that were not needed are not printed, and needed ones were there: printing never makes a spec
  // longer.
  LW_CHECK(again.ok() && *again == *spec, "{}", leeway::PrintSpec(*spec));
  for (const leeway::SpecTerm& term : spec->terms) {
    const leeway::PolicyConfig config("policy", term);
    const Result<std::int64_t> s = config.IntInRange("s", -10, 1000, 0);
    LW_CHECK(!s.ok() || (*s >= -10 && *s <= 1000));
    const Result<double> c = config.DoubleInRange("c", 0, 1, 0.5);
    LW_CHECK(!c.ok() || (*c >= 0 && *c <= 1));
    const auto release = config.KeyedOneOf("release", {"lazy", "soft"}, "lazy");
    LW_CHECK(!release.ok() || *release == "lazy" || *release == "soft");
    const leeway::Status finish = config.Finish();
    LW_CHECK(finish.ok() || !finish.message().empty());
  }
  return 0;
}
