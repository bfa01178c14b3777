// TableText: rows of cells -> aligned columns.
#pragma once

#include <string>
#include <vector>

namespace leeway::app {

class TableText {
 public:
  explicit TableText(std::vector<std::string> head) : rows_{std::move(head)} {}
  // Missing cells at the end are empty. REQUIRES: no more cells than the head has.
  void Row(std::vector<std::string> cells);
  // The first column is left-aligned, the rest right-aligned; a rule below the head; every line indented by
  // two.
  [[nodiscard]] std::string Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace leeway::app
