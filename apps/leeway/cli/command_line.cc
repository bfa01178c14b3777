// The only file that includes CLI11. It takes argv apart; conversions, checks and messages are our own,
// because CLI11's
// ("--workers: 1 required TEXT missing") do not say what was wanted.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "cli/flag_file.h"
#include "cli/help_text.h"
#include "terminal/error_output.h"

namespace leeway::app {
namespace {

// One command as CLI11 sees it.
struct Parsed {
  Command* command = nullptr;
  FlagSet flags;
  CLI::App* app = nullptr;
  std::deque<std::vector<std::string>> values;  // per flag; a deque, since CLI11 keeps references
  std::deque<bool> switches;
};

struct Parser {
  CLI::App root;
  std::map<std::string, CLI::App*> groups;
  std::deque<Parsed> commands;
};

CLI::App* AddApp(CLI::App& parent, const std::string& name) {
  CLI::App* app = parent.add_subcommand(name);
  app->set_help_flag("-h,--help");
  app->allow_extras();
  return app;
}

void Declare(Parser& parser, Command& command) {
  const std::string name = command.name();
  const std::size_t space = name.find(' ');
  CLI::App* parent = &parser.root;
  if (space != std::string::npos) {
    CLI::App*& group = parser.groups[name.substr(0, space)];
    if (group == nullptr) {
      group = AddApp(parser.root, name.substr(0, space));
      group->require_subcommand(0, 1);
    }
    parent = group;
  }
  Parsed& parsed = parser.commands.emplace_back();
  parsed.command = &command;
  command.Declare(parsed.flags);
  parsed.app = AddApp(*parent, space == std::string::npos ? name : name.substr(space + 1));
  for (const Flag& flag : parsed.flags.flags()) {
    std::vector<std::string>& values = parsed.values.emplace_back();
    bool& given = parsed.switches.emplace_back(false);
    if (flag.value.empty()) {
      parsed.app->add_flag(flag.names, given);
    } else {
      parsed.app->add_option(flag.names, values)
          ->expected(flag.value_optional ? 0 : 1, 1)
          ->allow_extra_args(false)  // one value each: what follows is a slip, and said to be one
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
}

// Words before the flags of a command are part of its name. A word that is left over is a mistake.
Status Unknown(const std::string& word, std::vector<std::string> flags, bool takes_rest) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    flags.emplace_back("--help");
    std::string hint = DidYouMean(name, flags);
    if (hint.empty() && takes_rest)
      hint = "; a flag for the program that it runs stands after that program, or after \"--\"";
    return InvalidArgument("unknown flag \"{}\"{}", name, hint);
  }
  if (takes_rest) return InvalidArgument("unexpected \"{}\"; the command to run stands after \"--\"", word);
  return InvalidArgument("unexpected \"{}\"", word);
}

// A value that a flag refuses is wrong usage, even where it names a policy that does not exist.
Status AsWrongUsage(const Status& refused, std::string_view flag) {
  return refused.ok() ? refused : InvalidArgument("{}", refused.WithContext(flag).message());
}

// The file that the command line names; nothing: it names none.
Result<std::optional<FlagFile>> ReadFile(const Parsed& parsed) {
  for (std::size_t i = 0; i < parsed.flags.flags().size(); ++i) {
    const Flag& flag = parsed.flags.flags()[i];
    if (flag.kind != FlagKind::kFile || parsed.values[i].empty()) continue;
    Result<FlagFile> file = parsed.flags.read_file()(parsed.values[i].front());
    if (!file.ok()) return file.status().WithContext(flag.name());
    return std::optional(*std::move(file));
  }
  return std::optional<FlagFile>();
}

const Flag* FileFlag(const FlagSet& flags) {
  const auto found = std::ranges::find(flags.flags(), FlagKind::kFile, &Flag::kind);
  return found == flags.flags().end() ? nullptr : &*found;
}

Status TakeFlag(const Parsed& parsed, std::size_t i) {
  const Flag& flag = parsed.flags.flags()[i];
  const std::vector<std::string>& values = parsed.values[i];
  if (parsed.switches[i]) LW_RETURN_IF_ERROR(flag.take("true"));
  if (values.size() > 1 && !flag.repeats) {
    return InvalidArgument("{}: given {} times, wanted once", flag.name(), values.size());
  }
  if (flag.value_optional && parsed.app->count(flag.name()) > 0) {
    // CLI11 gives "true" for a value that was left out.
    const bool left_out = values.empty() || values.front() == "true";
    return AsWrongUsage(flag.take(left_out ? "" : values.front()), flag.name());
  }
  for (const std::string& value : values) {
    LW_RETURN_IF_ERROR(AsWrongUsage(flag.take(value), flag.name()));
    if (flag.note) flag.note(flag.name());
  }
  return Status::Ok();
}

// Takes the flags that come first, or all others; of either the values of the file before the command line's,
// which override them.
Status TakeFlags(const Parsed& parsed, const std::optional<FlagFile>& file, bool first) {
  if (file) {
    const auto given = [&parsed](const Flag& other) { return parsed.app->count(other.name()) > 0; };
    LW_RETURN_IF_ERROR(
        AsWrongUsage(TakeFile(*file, parsed.flags, first, given), FileFlag(parsed.flags)->name()));
  }
  for (std::size_t i = 0; i < parsed.flags.flags().size(); ++i) {
    if (parsed.flags.flags()[i].comes_first == first) LW_RETURN_IF_ERROR(TakeFlag(parsed, i));
  }
  return Status::Ok();
}

Status Fill(Parsed& parsed, const std::vector<std::string>* rest) {
  const std::vector<std::string> extra = parsed.app->remaining();
  const auto is_flag = [](const std::string& word) { return word.starts_with("-"); };
  if (const auto slip = parsed.flags.takes_words() ? std::ranges::find_if(extra, is_flag) : extra.begin();
      slip != extra.end()) {
    return Unknown(*slip, parsed.flags.names(), parsed.flags.takes_rest());
  }
  if (parsed.flags.takes_words()) LW_RETURN_IF_ERROR(parsed.flags.TakeWords(extra));
  LW_ASSIGN_OR_RETURN(const std::optional<FlagFile> file, ReadFile(parsed));
  LW_RETURN_IF_ERROR(TakeFlags(parsed, file, /*first=*/true));
  LW_RETURN_IF_ERROR(TakeFlags(parsed, file, /*first=*/false));
  if (rest != nullptr) {
    if (!parsed.flags.takes_rest())
      return InvalidArgument("unexpected \"--\": this command takes flags only");
    parsed.flags.TakeRest(*rest);
  }
  return Status::Ok();
}

int Complain(const std::string& who, const Status& status, int code, bool usage) {
  PrintError("{}: {}\n", who, status.message());
  if (usage) PrintError("({} --help says what it takes)\n", who);
  return code;
}

int Run(const ProgramText& program, Parsed& parsed, const std::vector<std::string>* rest) {
  const std::string who = program.name + " " + parsed.command->name();
  const Status filled = Fill(parsed, rest);
  const Result<int> result = filled.ok() ? parsed.command->Run() : Result<int>(filled);
  if (result.ok()) return *result;
  // Two flags that do not fit each other are wrong usage too.
  const bool usage = result.status().code() == StatusCode::kInvalidArgument;
  return Complain(who, result.status(), ExitCode(result.status()), usage);
}

// CLI11 throws for a value that is missing: its message begins with the flag's name.
Status Missing(const Parser& parser, const CLI::ParseError& error) {
  const std::string what = error.what();
  const std::string name = what.substr(0, what.find(':'));
  for (const Parsed& parsed : parser.commands) {
    if (!parsed.app->parsed()) continue;
    if (const Flag* flag = parsed.flags.Find(name); flag != nullptr) {
      if (flag->value.empty()) return InvalidArgument("{}: got a value, wanted none", flag->name());
      return InvalidArgument("{}: got no value, wanted {}: {}", flag->name(), flag->value, flag->help);
    }
  }
  return InvalidArgument("{}", what);
}

std::vector<std::string> FirstWords(const Commands& commands, const std::string& group) {
  std::vector<std::string> words;
  for (const auto& command : commands) {
    std::string name = command->name();
    if (!group.empty()) {
      if (!name.starts_with(group + " ")) continue;
      name = name.substr(group.size() + 1);
    }
    const std::string word = name.substr(0, name.find(' '));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

// Explains a flag or script that stands in the place of a command. Empty: the word is something else.
std::string Misplaced(const Parser& parser, const std::string& program, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const Parsed& parsed : parser.commands) {
    const std::string command = program + " " + parsed.command->name();
    if (word.ends_with(".py") && parsed.flags.takes_rest())
      return fmt::format("unknown command \"{}\" (did you mean \"{} {}\"?)", word, command, word);
    if (word.starts_with("-") && parsed.flags.Find(name) != nullptr)
      return fmt::format("{} stands before the command, wanted it after: {} {}", name, command, name);
  }
  return {};
}

int NoCommand(const ProgramText& program, const Commands& commands, const Parser& parser, const CLI::App& app,
              const std::string& group) {
  const std::string who = group.empty() ? program.name : program.name + " " + group;
  const std::vector<std::string> extra = app.remaining();
  if (extra.empty()) {
    WriteError(CommandsHelp(program, commands, group));
    return kUsageExitCode;
  }
  const std::string& word = extra.front();
  if (const std::string hint = Misplaced(parser, program.name, word); !hint.empty())
    return Complain(who, InvalidArgument("{}", hint), kUsageExitCode, true);
  if (word.starts_with("-")) return Complain(who, Unknown(word, {}, false), kUsageExitCode, true);
  const std::vector<std::string> known = FirstWords(commands, group);
  const Status status = InvalidArgument("unknown command \"{}\"; known: {}{}", word, fmt::join(known, ", "),
                                        DidYouMean(word, known));
  return Complain(who, status, kUsageExitCode, true);
}

int PrintHelp(const ProgramText& program, const Commands& commands, Parser& parser) {
  for (Parsed& parsed : parser.commands) {
    if (!parsed.app->parsed()) continue;
    fmt::print("{}", CommandHelp(program, *parsed.command, parsed.flags));
    return 0;
  }
  std::string group;
  for (const auto& [name, app] : parser.groups) {
    if (app->parsed()) group = name;
  }
  fmt::print("{}", CommandsHelp(program, commands, group));
  return 0;
}

// Where a script stands that a command runs, as in "run -w 4 train.py --epochs 3": the first word that is
// neither a flag nor a flag's value, if it ends in ".py". Else the end.
std::size_t ScriptAt(const std::vector<std::string>& args, const Parser& parser) {
  const auto command = std::ranges::find_if(parser.commands, [&](const Parsed& parsed) {
    return !args.empty() && parsed.flags.takes_rest() && parsed.command->name() == args[0];
  });
  if (command == parser.commands.end()) return args.size();
  for (std::size_t at = 1; at < args.size(); ++at) {
    if (!args[at].starts_with("-")) return args[at].ends_with(".py") ? at : args.size();
    const Flag* flag = command->flags.Find(args[at]);  // not found: "--name=value" and "-w4", or a slip
    if (flag != nullptr && !flag->value.empty() && !flag->value_optional) ++at;
  }
  return args.size();
}

}  // namespace

int RunCommandLine(const ProgramText& program, const Commands& commands, std::vector<std::string> args) {
  // Words after "--" belong to another program: CLI11 never sees them.
  std::vector<std::string> rest;
  const auto dashes = std::find(args.begin(), args.end(), "--");
  bool has_rest = dashes != args.end();
  if (has_rest) {
    rest.assign(dashes + 1, args.end());
    args.erase(dashes, args.end());
  }

  // As other programs take them.
  if (!args.empty() && args[0] == "help") {
    args.erase(args.begin());
    args.emplace_back("--help");
  } else if (args.size() == 1 && args[0] == "--version") {
    args = {"version"};
  }

  Parser parser;
  parser.root.set_help_flag("-h,--help");
  parser.root.allow_extras();
  parser.root.require_subcommand(0, 1);  // a second command on the line is a word too many
  for (const auto& command : commands) Declare(parser, *command);
  if (const std::size_t script = has_rest ? args.size() : ScriptAt(args, parser); script < args.size()) {
    has_rest = true;
    rest.assign(args.begin() + static_cast<std::ptrdiff_t>(script), args.end());
    args.resize(script);
  }
  try {
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    parser.root.parse(args);
  } catch (const CLI::CallForHelp&) {
    return PrintHelp(program, commands, parser);
  } catch (const CLI::ParseError& error) {
    std::string who = program.name;
    for (const Parsed& parsed : parser.commands) {
      if (parsed.app->parsed()) who += " " + parsed.command->name();
    }
    return Complain(who, Missing(parser, error), kUsageExitCode, true);
  }
  for (Parsed& parsed : parser.commands) {
    if (!parsed.app->parsed()) continue;
    if (const std::vector<std::string> extra = parser.root.remaining(); !extra.empty()) {
      return NoCommand(program, commands, parser, parser.root, "");
    }
    return Run(program, parsed, has_rest ? &rest : nullptr);
  }
  for (const auto& [name, app] : parser.groups) {
    if (app->parsed()) return NoCommand(program, commands, parser, *app, name);
  }
  return NoCommand(program, commands, parser, parser.root, "");
}

}  // namespace leeway::app
