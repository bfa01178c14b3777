#include "cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

constexpr std::size_t kHelpColumnMax = 34;

using Row = std::pair<std::string, std::string>;

// Two columns, the second one wrapped under itself.
std::string TwoColumns(const std::vector<Row>& rows) {
  std::size_t left = 0;
  for (const Row& row : rows) left = std::max(left, std::min(row.first.size(), kHelpColumnMax - 4));
  std::string text;
  for (const auto& [name, help] : rows) {
    const std::string column = fmt::format("  {:<{}}  ", name, left);
    text += column + Wrapped(help, column.size(), left + 4) + "\n";
  }
  return text;
}

std::string FlagColumn(const Flag& flag) {
  std::string names = flag.names;
  if (const std::size_t comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  if (names.starts_with("--")) names = "    " + names;  // long names stand under long names
  return flag.value.empty() ? names : names + " " + flag.value;
}

std::string FlagHelp(const Flag& flag) {
  std::string help = flag.help;
  if (flag.repeats) help += " (may be given several times)";
  if (!flag.preset.empty()) help += fmt::format(" [{}]", flag.preset);
  return help;
}

// Paragraphs in lines of one width. Lines of examples and tables (with an indent) stay as they are, and so
// does the title above them. Elsewhere a colon at the end of a line is one within a sentence.
std::string Filled(const std::string& lesson) {
  std::string text, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += Wrapped(paragraph, 0, 0) + "\n";
    paragraph.clear();
  };
  std::istringstream lines(lesson);
  for (std::string line; std::getline(lines, line);) {
    const bool title = line.ends_with(':') && lines.peek() == ' ';
    const bool verbatim = line.empty() || line.starts_with(' ') || title;
    if (verbatim) end_paragraph();
    if (verbatim) text += line + "\n";
    if (!verbatim) paragraph += (paragraph.empty() ? "" : " ") + line;
  }
  end_paragraph();
  return text;
}

}  // namespace

std::string CommandsHelp(const ProgramText& program, const Commands& commands, const std::string& group) {
  std::vector<Row> rows;
  for (const auto& command : commands) {
    const std::string name = command->name();
    if (group.empty() || name.starts_with(group + " ")) rows.emplace_back(name, command->summary());
  }
  const std::string prefix = group.empty() ? program.name : program.name + " " + group;
  std::string text = group.empty() ? program.about + "\n\n" : std::string{};
  text += fmt::format("Usage: {} COMMAND [FLAGS]\n({} COMMAND --help says what a command takes)\n\n", prefix,
                      program.name);
  text += "Commands:\n" + TwoColumns(rows);
  if (group.empty()) text += "\n" + Filled(program.lesson);
  return text;
}

std::string CommandHelp(const ProgramText& program, const Command& command, const FlagSet& flags) {
  std::string text =
      fmt::format("{}\n\nUsage: {} {}{} [FLAGS]{}\n\n", Wrapped(command.summary(), 0, 0), program.name,
                  command.name(), flags.takes_words() ? " " + flags.words_value() : "",
                  flags.takes_rest() ? " -- " + flags.rest_value() : "");
  if (flags.takes_words()) text += TwoColumns({{flags.words_value(), flags.words_help()}}) + "\n";
  text += "Flags:\n";
  std::vector<Row> rows;
  for (const Flag& flag : flags.flags()) rows.emplace_back(FlagColumn(flag), FlagHelp(flag));
  rows.emplace_back("-h, --help", "this text");
  text += TwoColumns(rows);
  if (flags.takes_rest()) text += "\n" + TwoColumns({{"-- " + flags.rest_value(), flags.rest_help()}});
  if (const std::string lesson = command.lesson(); !lesson.empty()) text += "\n" + Filled(lesson);
  return text;
}

}  // namespace leeway::app
