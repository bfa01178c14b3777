// Table: cells in columns, for a page, a Markdown file and a terminal. (Not a table of parameters.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leeway::chart {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string name = {};
  Align align = Align::kRight;
};

struct Cell {
  std::string text;
  bool strong = false;  // the best of its column, a row of sums

  Cell(std::string_view cell_text, bool is_strong = false)
      : text(cell_text), strong(is_strong) {}  // NOLINT: a cell is its text
  Cell(const char* cell_text, bool is_strong = false) : text(cell_text), strong(is_strong) {}  // NOLINT
  Cell(std::string cell_text, bool is_strong = false)
      : text(std::move(cell_text)), strong(is_strong) {}  // NOLINT
};

struct Table {
  std::vector<Column> columns = {};
  // A short row ends in empty cells. REQUIRES: no row has more cells than there are columns.
  std::vector<std::vector<Cell>> rows = {};
  std::string note = {};  // below the table
};

// Line breaks in cells become spaces. Texts are escaped where the format has special characters.
std::string TableHtml(const Table& table);
// Columns are padded, so that the file reads well too. Strong cells in **.
std::string TableMarkdown(const Table& table);
// Aligned with spaces, a rule below the head, every line indented by `indent` spaces. Empty without columns.
std::string TableText(const Table& table, int indent = 0);

}  // namespace leeway::chart
