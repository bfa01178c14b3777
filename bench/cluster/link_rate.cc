#include "bench/cluster/link_rate.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"

namespace leeway::bench {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 3> kRateUnits = {
    {{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}}};

Status WrongRate(std::string_view text) {
  return InvalidArgument("got \"{}\", wanted a rate from {} to {}, such as 1gbit or 250mbit", text,
                         PrintLinkRate(kLinkRateMin), PrintLinkRate(kLinkRateMax));
}

}  // namespace

Result<LinkRate> ParseLinkRate(std::string_view text) {
  for (const auto& [unit, bits] : kRateUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = NumberFrom<double>(text.substr(0, text.size() - unit.size()));
    if (!number) break;
    const double bits_s = std::round(*number * bits);
    // NaN fails both comparisons.
    if (!(bits_s >= static_cast<double>(kLinkRateMin.bits_s) &&
          bits_s <= static_cast<double>(kLinkRateMax.bits_s)))
      break;
    return LinkRate{static_cast<std::uint64_t>(bits_s)};
  }
  return WrongRate(text);
}

std::string PrintLinkRate(LinkRate rate) {
  for (const auto& [unit, bits] : kRateUnits) {
    const double number = static_cast<double>(rate.bits_s) / bits;
    if (number < 1) continue;
    std::string text = fmt::format("{:.3f}", number);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text.append(unit);
  }
  return fmt::format("{}bit", rate.bits_s);
}

}  // namespace leeway::bench
