#include "base/errors.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace leeway {
namespace {

// Nobody mistypes a name this long. The limit also bounds the work that a peer's text can cause.
constexpr std::size_t kNameBytesMax = 64;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment), by three rolling
// rows.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string DidYouMean(std::string_view got, std::span<const std::string> known) {
  if (got.empty() || got.size() > kNameBytesMax) return "";
  // One slip in a short name, up to three in a long one.
  const std::size_t slips_max = std::clamp<std::size_t>(got.size() / 3, 1, 3);
  const std::string lower = Lower(got);
  const std::string* best = nullptr;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& name : known) {
    if (name.size() > kNameBytesMax) continue;
    const std::size_t distance = EditDistance(lower, Lower(name));
    // A suggestion shares at least one letter with `got` ("s" for "x" does not).
    if (distance > slips_max || distance >= name.size() || distance >= best_distance) continue;
    best = &name;
    best_distance = distance;
  }
  return best == nullptr ? "" : fmt::format(" (did you mean \"{}\"?)", *best);
}

}  // namespace leeway
