// Canvas: collects the elements of a picture. The charts draw on it; it turns into a Drawing.
//
// Coordinates are pixels, written with one decimal. The canvas escapes texts; drawing.cc defines the classes.
// Thread rule: one chart on one thread draws on one canvas.
#pragma once

#include <string>
#include <string_view>

#include "chart/drawing.h"

namespace leeway::chart {

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
};

// The format of coordinates: "12", "12.3".
void AppendPixel(std::string& out, double pixel);
// A command of a path ("M", "L") and its point.
void AppendPoint(std::string& out, char command, double x, double y);

class Canvas {
 public:
  Canvas(int width, int height) : width_(width), height_(height) {}

  // Draws title and note at the top, wrapped to the width and cut after some lines; returns where they end.
  double Heading(std::string_view title, std::string_view note);

  // All elements until Close are in this class.
  void Open(std::string_view classes);
  // Clips all elements until CloseClip to the box. (A nested <svg>: a <clipPath> would need an id, and ids
  // are not unique among the pictures of a page.)
  void OpenClip(const Box& box);
  void Close() { body_ += "</g>\n"; }
  void CloseClip() { body_ += "</svg>\n"; }

  // The pointer shows the tooltip; an empty one shows nothing.
  void Line(double x1, double y1, double x2, double y2, std::string_view classes);
  void Rect(const Box& box, std::string_view classes, std::string_view tooltip = {}, double rounding = 0);
  void Circle(double x, double y, double radius, std::string_view classes, std::string_view tooltip = {});
  void Path(std::string_view path, std::string_view classes, std::string_view attributes = {},
            std::string_view tooltip = {});
  // Omits a tooltip that equals the text.
  void Text(double x, double y, std::string_view text, std::string_view classes,
            std::string_view tooltip = {});
  // Turns the text by so many degrees around its anchor.
  void TurnedText(double x, double y, double degrees, std::string_view text, std::string_view classes,
                  std::string_view tooltip = {});

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  // For pictures whose height depends on their contents.
  void SetHeight(int height) { height_ = height; }
  [[nodiscard]] Drawing Finish(std::string_view title) &&;

 private:
  void Attribute(std::string_view name, double value);
  void End(std::string_view element, std::string_view tooltip);

  int width_;
  int height_;
  std::string body_;
};

}  // namespace leeway::chart
