#include "sync/sync_rules.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/spec.h"

namespace leeway {
namespace {

// `rule "tables=fc* snyc=bsp"`, the beginning of every message; a long rule is cut.
std::string RuleName(std::string_view text) {
  constexpr std::size_t kShownMax = 200;
  if (text.size() <= kShownMax) return fmt::format("rule \"{}\"", text);
  // A cut does not split a UTF-8 character.
  std::size_t end = kShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("rule \"{}...\"", text.substr(0, end));
}

// Returns the end of the quoted part that begins at `at` (behind its closing quote). nullopt if it does not
// end, or has a backslash before anything but a quote and a backslash.
std::optional<std::size_t> QuotedEnd(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] != '\\') continue;
    ++i;
    if (i == text.size() || (text[i] != '"' && text[i] != '\\')) return std::nullopt;
  }
  return std::nullopt;
}

// Returns the end of the bare value that begins at `at`: a space outside of quotes.
std::optional<std::size_t> BareEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != ' ') {
    if (text[at] != '"') {
      ++at;
      continue;
    }
    const std::optional<std::size_t> end = QuotedEnd(text, at);
    if (!end) return std::nullopt;
    at = *end;
  }
  return at;
}

std::string Unquoted(std::string_view quoted) {
  std::string value;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') ++i;
    value += quoted[i];
  }
  return value;
}

void PrintWord(std::string_view key, const std::string& value, std::string& out) {
  if (!out.empty()) out += ' ';
  out.append(key).append("=");
  const bool bare = !value.empty() && value[0] != '"' && BareEnd(value, 0) == value.size();
  if (bare) {
    out += value;
  } else {
    AppendQuoted(value, out);
  }
}

struct Word {
  std::string key, value;
};

// Reads the words of a rule one after the other.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  bool AtEnd() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }

  Result<Word> Next() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != ' ') ++at_;
    Word word{.key = std::string(text_.substr(begin, at_ - begin)), .value = {}};
    if (at_ == text_.size() || text_[at_] != '=') {
      return InvalidArgument(
          "{}: got \"{}\" at position {}, wanted tables=, server=, sync= or apply=, such as sync=ssp:3",
          RuleName(text_), word.key, begin + 1);
    }
    const std::size_t from = ++at_;
    const bool quoted = from < text_.size() && text_[from] == '"';
    const std::optional<std::size_t> end = quoted ? QuotedEnd(text_, from) : BareEnd(text_, from);
    if (!end) {
      return InvalidArgument("{}: {}: got a quote at position {} that does not end, wanted a closing \"",
                             RuleName(text_), word.key, text_.find('"', from) + 1);
    }
    if (quoted && *end < text_.size() && text_[*end] != ' ') {
      return InvalidArgument("{}: {}: got '{}' at position {} after a closing quote, wanted a space",
                             RuleName(text_), word.key, text_[*end], *end + 1);
    }
    at_ = *end;
    const std::string_view value = text_.substr(from, at_ - from);
    word.value = quoted ? Unquoted(value) : std::string(value);
    return word;
  }

 private:
  const std::string_view text_;
  std::size_t at_ = 0;
};

Result<std::uint32_t> ParseServer(std::string_view rule, const std::string& value) {
  constexpr std::uint32_t kServerMax = std::numeric_limits<std::uint32_t>::max() - 1;
  const auto server = NumberFrom<std::uint32_t>(value);
  if (server && *server <= kServerMax) return *server;
  return InvalidArgument("{}: server: got \"{}\", wanted a server's number, from 0", RuleName(rule), value);
}

Status CheckSpec(std::string_view rule, const Word& word) {
  if (const auto spec = ParseSpec(word.value); !spec.ok()) {
    return InvalidArgument("{}: {}: {}", RuleName(rule), word.key, spec.status().message());
  }
  return Status::Ok();
}

Status TakeWord(std::string_view text, Word word, SyncRule& rule) {
  const std::vector<std::string> known = {"tables", "server", "sync", "apply"};
  if (std::ranges::find(known, word.key) == known.end()) {
    return InvalidArgument("{}: unknown word \"{}\"; known: tables, server, sync, apply{}", RuleName(text),
                           word.key, DidYouMean(word.key, known));
  }
  if (word.value.empty()) {
    return InvalidArgument("{}: {}: got nothing, wanted {}", RuleName(text), word.key,
                           word.key == "tables"   ? "names of tables, with * and ? for any letters"
                           : word.key == "server" ? "a server's number, from 0"
                           : word.key == "sync"   ? "a sync model, such as ssp:3"
                                                  : "an apply mode, such as immediate");
  }
  if (word.key == "server") {
    LW_ASSIGN_OR_RETURN(rule.server, ParseServer(text, word.value));
  } else if (word.key == "tables") {
    rule.tables = std::move(word.value);
  } else {
    LW_RETURN_IF_ERROR(CheckSpec(text, word));
    (word.key == "sync" ? rule.sync : rule.apply) = std::move(word.value);
  }
  return Status::Ok();
}

// * is any run of letters, ? any one of them. On a mismatch only the last * gives way, so that no glob takes
// more than |glob| * |name| steps.
bool GlobFits(std::string_view glob, std::string_view name) {
  std::size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace

Result<SyncRule> ParseSyncRule(std::string_view text) {
  if (text.size() > kSyncRuleBytesMax) {
    return InvalidArgument("{}: got {} bytes, wanted at most {}", RuleName(text), text.size(),
                           kSyncRuleBytesMax);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!IsControlByte(text[i])) continue;
    return InvalidArgument("rule: got byte 0x{:02X} at position {}, wanted words on one line",
                           static_cast<unsigned char>(text[i]), i + 1);
  }
  SyncRule rule;
  std::vector<std::string> seen;
  RuleReader reader(text);
  while (!reader.AtEnd()) {
    LW_ASSIGN_OR_RETURN(Word word, reader.Next());
    if (std::ranges::find(seen, word.key) != seen.end()) {
      return InvalidArgument("{}: {}: got it twice, wanted it once", RuleName(text), word.key);
    }
    seen.push_back(word.key);
    LW_RETURN_IF_ERROR(TakeWord(text, std::move(word), rule));
  }
  if (rule.sync.empty() && rule.apply.empty()) {
    return InvalidArgument("{}: got neither sync= nor apply=, wanted one of them, such as sync=ssp:3",
                           RuleName(text));
  }
  return rule;
}

std::string ToText(const SyncRule& rule) {
  std::string text;
  if (rule.tables != "*") PrintWord("tables", rule.tables, text);
  if (rule.server) PrintWord("server", fmt::format("{}", *rule.server), text);
  if (!rule.sync.empty()) PrintWord("sync", rule.sync, text);
  if (!rule.apply.empty()) PrintWord("apply", rule.apply, text);
  return text;
}

bool Fits(const SyncRule& rule, std::string_view table, std::uint32_t server) {
  return (!rule.server || *rule.server == server) && GlobFits(rule.tables, table);
}

SyncChoice Choose(std::span<const SyncRule> rules, const SyncChoice& base, std::string_view table,
                  std::uint32_t server) {
  SyncChoice choice = base;
  for (const SyncRule& rule : rules) {
    if (!Fits(rule, table, server)) continue;
    if (!rule.sync.empty()) choice = {rule.sync, rule.apply};
    if (!rule.apply.empty()) choice.apply = rule.apply;
  }
  return choice;
}

}  // namespace leeway
