#include "simulate/study_table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/printable.h"
#include "terminal/table_text.h"

namespace leeway::app {
namespace {

using Columns = std::vector<std::size_t>;

// The first column, and these.
std::string TextOf(const StudyTable& table, const Columns& columns) {
  const auto part_of = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> part = {Printable(cells[0])};  // a label comes from a file or a flag
    for (const std::size_t i : columns) part.push_back(cells[i]);
    return part;
  };
  TableText text(part_of(table.columns));
  for (const std::vector<std::string>& row : table.rows) text.Row(part_of(row));
  return text.Print();
}

// Of the rule below the head, which is as wide as the widest row.
std::size_t WidthOf(const StudyTable& table, const Columns& columns) {
  const std::string text = TextOf(table, columns);
  const std::size_t rule = text.find('\n') + 1;
  return text.find('\n', rule) - rule;
}

// The columns in as few parts as fit into `room`. A column that is too wide for it is a part of its own.
std::vector<Columns> PartsOf(const StudyTable& table, const Columns& columns, std::size_t room) {
  std::vector<Columns> parts(1);
  for (const std::size_t column : columns) {
    parts.back().push_back(column);
    if (parts.back().size() == 1 || WidthOf(table, parts.back()) <= room) continue;
    parts.back().pop_back();
    parts.push_back({column});
  }
  return parts;
}

// As many parts, and as alike in width as they can be: else the last one may be left with a single column.
std::vector<Columns> EvenPartsOf(const StudyTable& table, const Columns& columns, std::size_t room) {
  std::vector<Columns> parts = PartsOf(table, columns, room);
  if (parts.size() == 1) return parts;
  for (std::vector<Columns> even = parts; even.size() == parts.size() && room > 0;
       even = PartsOf(table, columns, --room))
    parts = even;
  return parts;
}

bool IsSameInAll(const StudyTable& table, std::size_t column) {
  return table.rows.size() > 1 && std::ranges::all_of(table.rows, [&](const std::vector<std::string>& row) {
           return row[column] == table.rows[0][column];
         });
}

}  // namespace

std::string StudyTableText(const StudyTable& table, std::size_t columns_max) {
  Columns columns;
  for (std::size_t i = 1; i < table.columns.size(); ++i) columns.push_back(i);
  std::string same;
  if (WidthOf(table, columns) > columns_max) {
    std::erase_if(columns, [&](std::size_t i) {
      if (!IsSameInAll(table, i)) return false;
      same += fmt::format("  {}: {} in every row\n", table.columns[i], table.rows[0][i]);
      return true;
    });
  }
  std::string text;
  for (const Columns& part : EvenPartsOf(table, columns, columns_max))
    text += (text.empty() ? "" : "\n") + TextOf(table, part);
  return text + same + (table.note.empty() ? "" : fmt::format("  {}\n", table.note));
}

}  // namespace leeway::app
