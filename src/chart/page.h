// Page: a report as one HTML file that needs nothing else: no script, no font, no picture, no address.
//
// Every text is escaped when it is written. A Drawing comes from a chart of this module and is written
// unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chart/drawing.h"
#include "chart/table.h"

namespace leeway::chart {

enum class Tone : std::uint8_t { kPlain, kGood, kWarning, kBad };

// A tone other than plain gives it a coloured edge.
struct Paragraph {
  std::string text = {};
  Tone tone = Tone::kPlain;
};

// A key figure.
struct Card {
  std::string name = {};
  std::string value = {};
  std::string note = {};
  Tone tone = Tone::kPlain;
};
struct Cards {
  std::vector<Card> cards = {};
};

// Narrow figures that follow each other stand side by side.
struct Figure {
  Drawing drawing;
  std::string caption = {};
  // Replaces the drawing in windows narrower than 700 pixels; without it the window scrolls.
  std::optional<Drawing> narrow = std::nullopt;
};

// A verbatim text (a scenario), behind a line that opens it.
struct Fold {
  std::string summary = {};
  std::string text = {};
  bool open = false;
};

using Piece = std::variant<Paragraph, Cards, Table, Figure, Fold>;

struct Section {
  std::string title = {};
  std::vector<Piece> pieces = {};
};

struct Page {
  std::string title = {};
  std::string subtitle = {};
  std::vector<Section> sections = {};
  std::string footer = {};
};

std::string PageHtml(const Page& page);

// The anchors of the sections, in their order: "Time to accuracy" is at #time-to-accuracy. No two are the
// same.
std::vector<std::string> AnchorsOf(const std::vector<Section>& sections);

// The style sheet of pages (page_style.cc); drawings have their own.
std::string_view PageStyle();

}  // namespace leeway::chart
