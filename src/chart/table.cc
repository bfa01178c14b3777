#include "chart/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "chart/text.h"

namespace leeway::chart {
namespace {

// Columns of a terminal: one per code point. Wide characters of East Asia come out too short, which we
// accept.
std::size_t Length(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); ++length) NextCodePoint(text, at);
  return length;
}

// Control characters could move a terminal's cursor or end a row.
std::string OnOneLine(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = NextCodePoint(text, at);
    AppendCodePoint(out, code < 0x20 || (code >= 0x7F && code < 0xA0) ? ' ' : code);
  }
  return out;
}

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

std::string MarkdownOf(std::string_view text) {
  const std::string line = OnOneLine(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    // An underscore within a word is plain text in every Markdown that has tables.
    const bool within_word =
        i > 0 && i + 1 < line.size() && IsWordByte(line[i - 1]) && IsWordByte(line[i + 1]);
    if (std::string_view("\\|*`<[]&~").find(line[i]) != std::string_view::npos ||
        (line[i] == '_' && !within_word))
      out += '\\';
    out += line[i];
  }
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

// The head and all rows, each with a text per column.
template <typename TextOf>
Rows TextsOf(const Table& table, TextOf text_of) {
  Rows rows(1);
  for (const Column& column : table.columns) rows[0].push_back(text_of(Cell(column.name)));
  for (const std::vector<Cell>& cells : table.rows) {
    LW_CHECK(cells.size() <= table.columns.size(), "a row of {} cells, {} columns", cells.size(),
             table.columns.size());
    std::vector<std::string> row;
    row.reserve(table.columns.size());
    for (const Cell& cell : cells) row.push_back(text_of(cell));
    row.resize(table.columns.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::size_t> WidthsOf(const Rows& rows, std::size_t least) {
  std::vector<std::size_t> widths(rows[0].size(), least);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Length(row[i]));
  }
  return widths;
}

std::string Padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - Length(text), ' ');
  return align == Align::kRight ? space + text : text + space;
}

}  // namespace

std::string TableHtml(const Table& table) {
  std::string out = "<div class=\"table\"><table>\n<thead><tr>";
  const auto side = [&](std::size_t i) {
    return table.columns[i].align == Align::kRight ? " class=\"num\"" : "";
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", side(i), Escaped(table.columns[i].name));
  }
  out += "</tr></thead>\n<tbody>\n";
  const Rows rows = TextsOf(table, [](const Cell& cell) {
    return cell.strong ? fmt::format("<strong>{}</strong>", Escaped(cell.text)) : Escaped(cell.text);
  });
  for (std::size_t row = 1; row < rows.size(); ++row) {
    out += "<tr>";
    for (std::size_t i = 0; i < rows[row].size(); ++i)
      out += fmt::format("<td{}>{}</td>", side(i), rows[row][i]);
    out += "</tr>\n";
  }
  out += "</tbody>\n</table></div>\n";
  if (!table.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", Escaped(table.note));
  return out;
}

std::string TableMarkdown(const Table& table) {
  if (table.columns.empty()) return {};
  const Rows rows = TextsOf(table, [](const Cell& cell) {
    return cell.strong && !cell.text.empty() ? fmt::format("**{}**", MarkdownOf(cell.text))
                                             : MarkdownOf(cell.text);
  });
  const std::vector<std::size_t> widths = WidthsOf(rows, 3);
  std::string out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      out += fmt::format("| {} ", Padded(rows[row][i], widths[i], table.columns[i].align));
    out += "|\n";
    if (row > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string rule(widths[i] - 1, '-');
      out +=
          table.columns[i].align == Align::kRight ? fmt::format("| {}: ", rule) : fmt::format("| {}- ", rule);
    }
    out += "|\n";
  }
  if (!table.note.empty()) out += fmt::format("\n{}\n", MarkdownOf(table.note));
  return out;
}

std::string TableText(const Table& table, int indent) {
  if (table.columns.empty()) return {};
  const Rows rows = TextsOf(table, [](const Cell& cell) { return OnOneLine(cell.text); });
  const std::vector<std::size_t> widths = WidthsOf(rows, 1);
  const std::string margin(static_cast<std::size_t>(std::max(indent, 0)), ' ');
  std::string out;
  const auto add_line = [&](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line = margin;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += (i == 0 ? "" : "  ") + Padded(rows[row][i], widths[i], table.columns[i].align);
    }
    add_line(std::move(line));
    if (row > 0) continue;
    std::string rule = margin;
    for (std::size_t i = 0; i < widths.size(); ++i)
      rule += (i == 0 ? "" : "  ") + std::string(widths[i], '-');
    add_line(std::move(rule));
  }
  if (!table.note.empty()) add_line(margin + OnOneLine(table.note));
  return out;
}

}  // namespace leeway::chart
