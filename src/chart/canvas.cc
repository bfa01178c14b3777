#include "chart/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kMargin = 16;
constexpr std::size_t kTooltipMax = 300;  // characters; names may be of any length

}  // namespace

void AppendPixel(std::string& out, double pixel) {
  const long tenths = std::isfinite(pixel) ? std::lround(std::clamp(pixel, -1e6, 1e6) * 10) : 0;
  if (tenths < 0) out += '-';
  const long magnitude = std::abs(tenths);
  fmt::format_to(std::back_inserter(out), "{}", magnitude / 10);
  if (magnitude % 10 != 0) fmt::format_to(std::back_inserter(out), ".{}", magnitude % 10);
}

void AppendPoint(std::string& out, char command, double x, double y) {
  out += command;
  AppendPixel(out, x);
  out += ' ';
  AppendPixel(out, y);
}

double Canvas::Heading(std::string_view title, std::string_view note) {
  const double width = width_ - 2 * kMargin;
  double y = 10;
  for (const std::string& line : Wrapped(title, width, 15.5, 2)) {
    y += 18;
    Text(kMargin, y, line, "h");
  }
  for (const std::string& line : Wrapped(note, width, 12, 3)) {
    y += 16;
    Text(kMargin, y, line, "n");
  }
  return y + 8;
}

void Canvas::Open(std::string_view classes) {
  fmt::format_to(std::back_inserter(body_), "<g class=\"{}\">", classes);
}

void Canvas::OpenClip(const Box& box) {
  body_ += "<svg";
  Attribute("x", box.left);
  Attribute("y", box.top);
  Attribute("width", box.width());
  Attribute("height", box.height());
  body_ += " viewBox=\"";
  AppendPoint(body_, ' ', box.left, box.top);
  AppendPoint(body_, ' ', box.width(), box.height());
  body_ += "\">\n";
}

void Canvas::Attribute(std::string_view name, double value) {
  fmt::format_to(std::back_inserter(body_), " {}=\"", name);
  AppendPixel(body_, value);
  body_ += '"';
}

void Canvas::End(std::string_view element, std::string_view tooltip) {
  if (tooltip.empty()) {
    body_ += "/>\n";
    return;
  }
  fmt::format_to(std::back_inserter(body_), "><title>{}</title></{}>\n",
                 Escaped(ClippedTo(tooltip, kTooltipMax)), element);
}

void Canvas::Line(double x1, double y1, double x2, double y2, std::string_view classes) {
  fmt::format_to(std::back_inserter(body_), "<path class=\"{}\" d=\"", classes);
  AppendPoint(body_, 'M', x1, y1);
  AppendPoint(body_, 'L', x2, y2);
  body_ += "\"/>\n";
}

void Canvas::Rect(const Box& box, std::string_view classes, std::string_view tooltip, double rounding) {
  fmt::format_to(std::back_inserter(body_), "<rect class=\"{}\"", classes);
  Attribute("x", box.left);
  Attribute("y", box.top);
  Attribute("width", std::max(0.0, box.width()));
  Attribute("height", std::max(0.0, box.height()));
  if (rounding > 0) Attribute("rx", rounding);
  End("rect", tooltip);
}

void Canvas::Circle(double x, double y, double radius, std::string_view classes, std::string_view tooltip) {
  fmt::format_to(std::back_inserter(body_), "<circle class=\"{}\"", classes);
  Attribute("cx", x);
  Attribute("cy", y);
  Attribute("r", radius);
  End("circle", tooltip);
}

void Canvas::Path(std::string_view path, std::string_view classes, std::string_view attributes,
                  std::string_view tooltip) {
  if (path.empty()) return;
  fmt::format_to(std::back_inserter(body_), "<path class=\"{}\" d=\"{}\"{}{}", classes, path,
                 attributes.empty() ? "" : " ", attributes);
  End("path", tooltip);
}

void Canvas::Text(double x, double y, std::string_view text, std::string_view classes,
                  std::string_view tooltip) {
  TurnedText(x, y, 0, text, classes, tooltip);
}

void Canvas::TurnedText(double x, double y, double degrees, std::string_view text, std::string_view classes,
                        std::string_view tooltip) {
  body_ += "<text";
  if (!classes.empty()) fmt::format_to(std::back_inserter(body_), " class=\"{}\"", classes);
  Attribute("x", x);
  Attribute("y", y);
  if (degrees != 0) {
    body_ += " transform=\"rotate(";
    AppendPixel(body_, degrees);
    AppendPoint(body_, ' ', x, y);
    body_ += ")\"";
  }
  fmt::format_to(std::back_inserter(body_), ">{}", Escaped(text));
  if (!tooltip.empty() && tooltip != text) {
    fmt::format_to(std::back_inserter(body_), "<title>{}</title>", Escaped(ClippedTo(tooltip, kTooltipMax)));
  }
  body_ += "</text>\n";
}

Drawing Canvas::Finish(std::string_view title) && {
  return {.width = width_, .height = height_, .title = std::string(title), .body = std::move(body_)};
}

}  // namespace leeway::chart
