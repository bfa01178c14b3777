#include "chart/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace leeway::chart {
namespace {

struct Shades {
  std::uint32_t light_page;
  std::uint32_t dark_page;
};

// Chosen so that with normal sight, and with red-, green- or blue-blindness as Machado models them, no two of
// the first six are nearer than 16 in Lab, and no two of all twelve nearer than 13; and with a contrast of at
// least 2.6 to the page. That takes lightness as much as hue, because two hues look the same to some people.
constexpr std::array<Shades, kSeriesColours + 1> kColours = {{
    {0x2B62B8, 0x7396DE},  // blue
    {0xC8400F, 0xDD7B2E},  // orange
    {0x168A66, 0x52DDA2},  // green
    {0xA8629E, 0xB0789A},  // purple
    {0xB8A022, 0xF3DF75},  // gold
    {0x3BA7E5, 0xB8E5F9},  // sky
    {0x62253F, 0xE34E5A},  // wine
    {0x2A2799, 0x8F6BF2},  // indigo
    {0x3A440A, 0xB9C63A},  // olive
    {0x084A67, 0x72C2B6},  // teal
    {0x5C4031, 0xDBAF6D},  // brown
    {0x8D9E5F, 0x879F77},  // moss
    {0xB4BDC7, 0x55606C},  // grey
}};

constexpr std::array<std::string_view, 6> kDashes = {"10 3", "10 3 2 3", "14 3 2 3 2 3",
                                                     "2 3",  "8 2",      "12 3 4 3"};

// From a colour near the page's to the most striking one: the lightness falls evenly (rises on dark pages).
constexpr std::array<std::uint32_t, 6> kHeatLight = {0xF0F6E4, 0xBFE3BD, 0x6CC2BD,
                                                     0x2F8FBC, 0x23569F, 0x1B2660};
constexpr std::array<std::uint32_t, 6> kHeatDark = {0x1D2A38, 0x234E70, 0x257C91,
                                                    0x48AD8F, 0xA8D570, 0xFBF3A0};

std::uint32_t Mixed(std::uint32_t a, std::uint32_t b, double part) {
  std::uint32_t mixed = 0;
  for (const int shift : {16, 8, 0}) {
    const double from = (a >> shift) & 0xFFU;
    const double to = (b >> shift) & 0xFFU;
    mixed |= static_cast<std::uint32_t>(std::lround(from + (to - from) * part)) << shift;
  }
  return mixed;
}

std::uint32_t OnLadder(std::span<const std::uint32_t> stops, int level) {
  const double at = static_cast<double>(level) / (kHeatLevels - 1) * static_cast<double>(stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  return Mixed(stops[below], stops[below + 1], at - static_cast<double>(below));
}

}  // namespace

Colour SeriesColour(std::size_t index) { return static_cast<Colour>(index % kSeriesColours); }

std::string_view SeriesDash(std::size_t index) {
  index %= kSeriesColours;
  return index < kDashes.size() ? std::string_view() : kDashes[index - kDashes.size()];
}

std::string ClassOf(Colour colour) { return fmt::format("c{}", static_cast<int>(colour)); }

std::string HeatClass(int level) { return fmt::format("q{}", std::clamp(level, 0, kHeatLevels - 1)); }

std::string PaletteRules(std::string_view scope, bool dark) {
  std::string rules;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    const std::uint32_t colour = dark ? kColours[i].dark_page : kColours[i].light_page;
    rules += fmt::format("{} .c{}{{color:#{:06x}}}", scope, i, colour);
  }
  for (int level = 0; level < kHeatLevels; ++level) {
    rules +=
        fmt::format("{} .q{}{{color:#{:06x}}}", scope, level, OnLadder(dark ? kHeatDark : kHeatLight, level));
  }
  return rules;
}

}  // namespace leeway::chart
