#include "cli/flag_file.h"

#include <algorithm>
#include <map>

#include "base/errors.h"

namespace leeway::app {
namespace {

// "--block-bytes" -> "block_bytes".
std::string KeyOf(const Flag& flag) {
  std::string key = flag.name().substr(flag.name().find_first_not_of('-'));
  std::ranges::replace(key, '-', '_');
  return key;
}

const char* WantedOf(const Flag& flag) {
  if (flag.repeats) return "text, or a list of texts";
  switch (flag.kind) {
    case FlagKind::kNumber:
      return "a whole number without quotes";
    case FlagKind::kBytes:
      return "a whole number, or text such as \"4MiB\"";
    case FlagKind::kTime:
      return "text such as \"30s\"";
    case FlagKind::kSwitch:
      return "true or false";
    case FlagKind::kText:
    case FlagKind::kFile:
      break;
  }
  return "text in quotes";
}

bool Fits(const FileValue& value, const Flag& flag) {
  using Kind = FileValue::Kind;
  if (flag.repeats) return value.kind == Kind::kText || value.kind == Kind::kTexts;
  switch (flag.kind) {
    case FlagKind::kNumber:
      return value.kind == Kind::kNumber;
    case FlagKind::kBytes:
      return value.kind == Kind::kNumber || value.kind == Kind::kText;
    case FlagKind::kSwitch:
      return value.kind == Kind::kSwitch;
    case FlagKind::kTime:
    case FlagKind::kText:
    case FlagKind::kFile:
      break;
  }
  return value.kind == Kind::kText;
}

Status Take(const FileValue& value, const Flag& flag, const std::string& where) {
  if (!Fits(value, flag)) return InvalidArgument("got {}, wanted {}", value.got, WantedOf(flag));
  for (const std::string& text : value.texts) {
    if (flag.kind == FlagKind::kSwitch && text != "true") continue;  // as when it is not given
    LW_RETURN_IF_ERROR(flag.take(text));
    if (flag.note) flag.note(fmt::format("{}: {}", where, value.key));
  }
  return Status::Ok();
}

}  // namespace

Status TakeFile(const FlagFile& file, const FlagSet& flags, bool first,
                const std::function<bool(const Flag&)>& given) {
  std::map<std::string, const Flag*> known;
  std::vector<std::string> keys;
  for (const Flag& flag : flags.flags()) {
    if (flag.kind == FlagKind::kFile) continue;  // a file names no other
    known[KeyOf(flag)] = &flag;
    keys.push_back(KeyOf(flag));
  }
  for (const FileValue& value : file.values) {
    const std::string where = fmt::format("{} line {}", file.name, value.line);
    const auto found = known.find(value.key);
    if (found == known.end()) {
      if (first) continue;  // told when the others are taken
      return InvalidArgument(
          "{}: unknown key \"{}\"{}; keys are the flags of this command with _ for -, and [[rule]]", where,
          value.key, DidYouMean(value.key, keys));
    }
    const Flag& flag = *found->second;
    if (flag.comes_first != first) continue;
    if (!flag.repeats && given(flag)) {
      // Not taken, and yet not to be nonsense.
      if (!Fits(value, flag))
        return InvalidArgument("{}: {}: got {}, wanted {}", where, value.key, value.got, WantedOf(flag));
      continue;
    }
    // Every error here is an error in the file.
    if (const Status taken = Take(value, flag, where); !taken.ok()) {
      return InvalidArgument("{}: {}: {}", where, value.key, taken.message());
    }
  }
  return Status::Ok();
}

}  // namespace leeway::app
