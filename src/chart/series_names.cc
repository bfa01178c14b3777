#include "chart/series_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kSampleWidth = 24;
constexpr double kLongestName = 150;
constexpr double kNameHeight = 16;
constexpr std::size_t kMarkers = 6;

// Each as wide as it needs to look as large as the others.
std::string MarkerPath(std::size_t marker, double x, double y) {
  std::string path;
  switch (marker % kMarkers) {
    case 0:  // circle
      AppendPoint(path, 'M', x - 3, y);
      path += "a3 3 0 1 0 6 0a3 3 0 1 0-6 0z";
      break;
    case 1:  // square
      AppendPoint(path, 'M', x - 2.7, y - 2.7);
      path += "h5.4v5.4h-5.4z";
      break;
    case 2:  // triangle
      AppendPoint(path, 'M', x, y - 3.7);
      path += "l3.5 6.2h-7z";
      break;
    case 3:  // diamond
      AppendPoint(path, 'M', x, y - 3.9);
      path += "l3.9 3.9l-3.9 3.9l-3.9-3.9z";
      break;
    case 4:  // triangle on its tip
      AppendPoint(path, 'M', x, y + 3.7);
      path += "l3.5-6.2h-7z";
      break;
    default:  // cross
      AppendPoint(path, 'M', x - 1.2, y - 3.6);
      path += "h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z";
  }
  return path;
}

// Moves names apart: down where they overlap, then up from the lower end as far as they must.
void Spread(std::vector<NamePlace>& places, double top, double bottom) {
  double least = top;
  for (NamePlace& place : places) {
    place.y = std::max(place.y, least);
    least = place.y + kNameHeight;
  }
  double most = bottom;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    place->y = std::min(place->y, most);
    most = place->y - kNameHeight;
  }
}

}  // namespace

std::vector<SeriesLook> LooksOf(const std::vector<Series>& series) {
  std::vector<SeriesLook> looks;
  std::size_t place = 0;  // paper's figures share that of the series they belong to
  Colour last = SeriesColour(0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const bool own_place = !series[i].dashed || i == 0;
    if (own_place && i > 0) ++place;
    const Colour colour = series[i].colour ? *series[i].colour : own_place ? SeriesColour(place) : last;
    last = colour;
    looks.push_back({.classes = ClassOf(colour),
                     .dash = series[i].dashed ? kPaperDash : SeriesDash(place),
                     .marker = place,
                     .hollow = series[i].dashed});
  }
  return looks;
}

void DrawMarker(Canvas& canvas, const SeriesLook& look, double x, double y) {
  canvas.Path(MarkerPath(look.marker, x, y), look.hollow ? "ln hollow" : "fl");
}

void DrawSeriesNames(Canvas& canvas, std::vector<NamePlace> places, const Box& box) {
  std::erase_if(places, [](const NamePlace& place) { return place.series->name.empty(); });
  if (places.empty()) return;
  const auto room = static_cast<std::size_t>(std::max(1.0, box.height() / kNameHeight));
  const std::size_t left_out = places.size() > room ? places.size() - room + 1 : 0;
  places.resize(places.size() - left_out);
  std::stable_sort(places.begin(), places.end(),
                   [](const NamePlace& a, const NamePlace& b) { return a.y < b.y; });
  Spread(places, box.top + 4, box.bottom - 4 - (left_out > 0 ? kNameHeight : 0));
  const double x = box.right + 12;
  for (const NamePlace& place : places) {
    canvas.Open(place.look.classes);
    const std::string dash =
        place.look.dash.empty() ? "" : fmt::format("stroke-dasharray=\"{}\"", place.look.dash);
    std::string sample;
    AppendPoint(sample, 'M', x, place.y);
    sample += fmt::format("h{}", kSampleWidth);
    canvas.Path(sample, "ln", dash);
    DrawMarker(canvas, place.look, x + kSampleWidth / 2, place.y);
    canvas.Close();
    canvas.Text(x + kSampleWidth + 6, place.y + 4, Clipped(place.series->name, kLongestName, 12), "k",
                place.series->name);
  }
  if (left_out > 0) canvas.Text(x, box.bottom, fmt::format("and {} more", left_out), "n");
}

double SeriesNamesWidth(const std::vector<Series>& series) {
  double width = 0;
  for (const Series& one : series) {
    if (!one.name.empty()) width = std::max(width, TextWidth(Clipped(one.name, kLongestName, 12), 12));
  }
  return width == 0 ? 0 : width + 12 + kSampleWidth + 6;
}

}  // namespace leeway::chart
