// TableText: rows of cells -> aligned columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "terminal/wrap_text.h"

namespace leeway::app {

class TableText {
 public:
  // Alignment of the last column: left for sentences. A long sentence is wrapped below its own column
  // (kLeft), or cut where each row is one line (kLeftCut).
  enum class Last : std::uint8_t { kRight, kLeft, kLeftCut };

  explicit TableText(std::vector<std::string> head, Last last = Last::kRight)
      : rows_{std::move(head)}, last_(last) {}
  // Missing cells at the end are empty. REQUIRES: no more cells than the head has.
  void Row(std::vector<std::string> cells);
  // The first column is left-aligned, the rest right-aligned unless said otherwise; a rule below the head;
  // every line indented by two.
  [[nodiscard]] std::string Print(std::size_t columns = kTextColumns) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  const Last last_;
};

}  // namespace leeway::app
