#include "role/job_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "sync/sync_rules.h"
#include "toml/toml_node.h"

namespace leeway::app {
namespace {

FileValue ValueOf(const std::string& key, const toml::node& node) {
  FileValue value{
      .key = key, .line = LineOf(node), .kind = FileValue::Kind::kOther, .texts = {}, .got = Shown(node)};
  if (node.is_string()) {
    value.kind = FileValue::Kind::kText;
    value.texts.push_back(*node.value<std::string>());
  } else if (node.is_integer()) {
    value.kind = FileValue::Kind::kNumber;
    value.texts.push_back(fmt::format("{}", *node.value<std::int64_t>()));
  } else if (node.is_boolean()) {
    value.kind = FileValue::Kind::kSwitch;
    value.texts.emplace_back(*node.value<bool>() ? "true" : "false");
  } else if (const toml::array* list = node.as_array(); list != nullptr) {
    value.kind = FileValue::Kind::kTexts;
    for (const toml::node& each : *list) {
      if (!each.is_string()) {
        value.kind = FileValue::Kind::kOther;
        value.got = fmt::format("a list with {} in it", Shown(each));
        break;
      }
      value.texts.push_back(*each.value<std::string>());
    }
  }
  return value;
}

class RuleReader {
 public:
  explicit RuleReader(const std::string& name) : name_(name) {}

  Result<FileValue> Read(const toml::table& section) const {
    SyncRule rule;
    for (const auto& [key, node] : section) {
      const std::string word(key.str());
      if (word == "server") {
        LW_ASSIGN_OR_RETURN(rule.server, Server(node));
      } else if (word == "tables") {
        LW_ASSIGN_OR_RETURN(rule.tables, Text(word, node));
      } else if (word == "sync") {
        LW_ASSIGN_OR_RETURN(rule.sync, Text(word, node));
      } else if (word == "apply") {
        LW_ASSIGN_OR_RETURN(rule.apply, Text(word, node));
      } else {
        static const std::vector<std::string> kKnown = {"tables", "server", "sync", "apply"};
        return InvalidArgument(
            "{} line {}: [[rule]]: unknown key \"{}\"; known: tables, server, sync, apply{}", name_,
            LineOf(node), word, DidYouMean(word, kKnown));
      }
    }
    FileValue value{.key = "rule",
                    .line = LineOf(section),
                    .kind = FileValue::Kind::kTexts,
                    .texts = {},
                    .got = "a rule"};
    value.texts.push_back(ToText(rule));
    return value;
  }

 private:
  Result<std::string> Text(const std::string& word, const toml::node& node) const {
    if (node.is_string() && !node.value<std::string>()->empty()) return *node.value<std::string>();
    return InvalidArgument("{} line {}: [[rule]]: {}: got {}, wanted text in quotes", name_, LineOf(node),
                           word, Shown(node));
  }
  Result<std::uint32_t> Server(const toml::node& node) const {
    const auto server = node.is_integer() ? node.value<std::int64_t>() : std::nullopt;
    if (server && *server >= 0 && *server < std::int64_t{1} << 31) return static_cast<std::uint32_t>(*server);
    return InvalidArgument("{} line {}: [[rule]]: server: got {}, wanted a server's number, from 0", name_,
                           LineOf(node), Shown(node));
  }

  const std::string& name_;
};

}  // namespace

Result<FlagFile> ParseJobFile(std::string_view text, const std::string& name) {
  LW_ASSIGN_OR_RETURN(const toml::table parsed, ParseToml(text, name));
  FlagFile file;
  file.name = name;
  const RuleReader rules(file.name);
  for (const auto& [key, node] : parsed) {
    const std::string word(key.str());
    const toml::array* list = node.as_array();
    const bool sections = list != nullptr && !list->empty() && list->front().is_table();
    if (word != "rule" || !sections) {
      if (word == "rule" && node.is_table()) {
        return InvalidArgument("{} line {}: got [rule], wanted [[rule]]: there may be several", name,
                               LineOf(node));
      }
      file.values.push_back(ValueOf(word, node));
      continue;
    }
    for (const toml::node& each : *list) {
      if (!each.is_table())
        return InvalidArgument("{} line {}: rule: got {}, wanted a [[rule]]", name, LineOf(each),
                               Shown(each));
      LW_ASSIGN_OR_RETURN(FileValue rule, rules.Read(*each.as_table()));
      file.values.push_back(std::move(rule));
    }
  }
  // toml++ sorts keys by name. Errors are reported in the order of lines, and the order of rules matters.
  std::ranges::stable_sort(file.values, {}, &FileValue::line);
  return file;
}

Result<FlagFile> ReadJobFile(const std::string& path) {
  LW_ASSIGN_OR_RETURN(const std::string text, ReadTomlText(path));
  return ParseJobFile(text, path);
}

}  // namespace leeway::app
