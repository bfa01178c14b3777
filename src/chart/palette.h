// The colours of pictures, as classes of the style sheet. Twelve are for series, as distinct under the common
// kinds of colour blindness as twelve can be (dashes and markers distinguish them as well). Grey is for
// secondary elements, and a ladder from little to much is for heat maps. Every colour has a shade for
// light pages and one for dark ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leeway::chart {

enum class Colour : std::uint8_t {
  kBlue,
  kOrange,
  kGreen,
  kPurple,
  kGold,
  kSky,
  kWine,
  kIndigo,
  kOlive,
  kTeal,
  kBrown,
  kMoss,
  kGrey,  // for what stands back; no series has it unless told
};
inline constexpr std::size_t kSeriesColours = 12;
inline constexpr int kHeatLevels = 20;

// The colour of series number `index`; the thirteenth begins again.
Colour SeriesColour(std::size_t index);
// The lines of series number `index`: "" is solid, else the value of stroke-dasharray. The first six are
// solid, and none of the others is like kPaperDash.
std::string_view SeriesDash(std::size_t index);
inline constexpr std::string_view kPaperDash = "5 4";

// The name of the class that sets the colour: shapes with the class "fl" are filled with it, "ln" drawn with
// it.
std::string ClassOf(Colour colour);
// The class of a step of the ladder, from 0 (little) to kHeatLevels - 1 (much).
std::string HeatClass(int level);

// Rules for all of these classes below `scope` (".lw"), for light pages or dark ones.
std::string PaletteRules(std::string_view scope, bool dark);

}  // namespace leeway::chart
