// Names below the bars of a chart: on one line if they fit, else on two, else turned.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "chart/canvas.h"

namespace leeway::chart {

class CategoryNames {
 public:
  // `band` is the width of a category. REQUIRES: `names` outlive this.
  CategoryNames(std::span<const std::string> names, double band);
  // The room that the names need below the bars.
  [[nodiscard]] double height() const { return height_; }
  // Draws below the box, which the categories divide evenly. Omits some of the turned names where they are
  // too dense.
  void Draw(Canvas& canvas, const Box& box) const;

 private:
  enum class Way : std::uint8_t { kOneLine, kTwoLines, kTurned };

  std::span<const std::string> names_;
  Way way_ = Way::kOneLine;
  double height_ = 0;
};

}  // namespace leeway::chart
