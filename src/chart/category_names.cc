#include "chart/category_names.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kCategoryFont = 12;
constexpr double kTurnDegrees = 32;
constexpr double kTurn = kTurnDegrees / 180 * std::numbers::pi;
constexpr double kTurnedWidthMax = 140;
constexpr double kTurnedApart = 16;  // pixels between turned names

double WidthOf(std::string_view text) { return TextWidth(text, kCategoryFont); }

// Returns where to break a name into two lines of about the same width: behind a space or a sign that joins
// words.
std::size_t BreakOf(std::string_view name) {
  std::size_t best = name.size();
  double least = WidthOf(name);
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (std::string_view(" :,/-_+").find(name[i - 1]) == std::string_view::npos) continue;
    const double wider = std::max(WidthOf(name.substr(0, i)), WidthOf(name.substr(i)));
    if (wider < least) {
      least = wider;
      best = i;
    }
  }
  return best;
}

double WidthOnTwoLines(std::string_view name) {
  const std::size_t at = BreakOf(name);
  return std::max(WidthOf(name.substr(0, at)), WidthOf(name.substr(at)));
}

}  // namespace

CategoryNames::CategoryNames(std::span<const std::string> names, double band) : names_(names) {
  const auto fits = [&](auto width_of) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      // A name of a thousand characters is not broken.
      return name.size() < 200 && width_of(name) <= band - 6;
    });
  };
  if (fits(WidthOf)) {
    way_ = Way::kOneLine;
    height_ = 28;
  } else if (fits(WidthOnTwoLines)) {
    way_ = Way::kTwoLines;
    height_ = 43;
  } else {
    way_ = Way::kTurned;
    double longest = 0;
    for (const std::string& name : names) longest = std::max(longest, WidthOf(ClippedTo(name, 60)));
    height_ = 26 + std::min(longest, kTurnedWidthMax) * std::sin(kTurn);
  }
}

void CategoryNames::Draw(Canvas& canvas, const Box& box) const {
  const double band = box.width() / static_cast<double>(std::max<std::size_t>(names_.size(), 1));
  const double every = way_ == Way::kTurned ? std::max(1.0, std::ceil(kTurnedApart / band)) : 1;
  for (std::size_t i = 0; i < names_.size(); i += static_cast<std::size_t>(every)) {
    const std::string& name = names_[i];
    const double middle = box.left + band * (static_cast<double>(i) + 0.5);
    if (way_ == Way::kTurned) {
      const double room = std::min(kTurnedWidthMax, (middle - 4) / std::cos(kTurn));
      canvas.TurnedText(middle + 4, box.bottom + 15, -kTurnDegrees, Clipped(name, room, kCategoryFont), "e",
                        name);
      continue;
    }
    const std::size_t at = way_ == Way::kTwoLines ? BreakOf(name) : name.size();
    const std::string_view text = name;
    canvas.Text(middle, box.bottom + 18, text.substr(0, at), "m");
    if (at < name.size()) canvas.Text(middle, box.bottom + 33, text.substr(at), "m");
  }
}

}  // namespace leeway::chart
