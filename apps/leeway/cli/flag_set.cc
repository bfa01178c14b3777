#include "cli/flag_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/split.h"
#include "terminal/quantity.h"

namespace leeway::app {

std::string Flag::name() const { return SplitAt(names, ',').back(); }

void FlagSet::Ranged(std::string names, std::string value, std::uint64_t preset,
                     std::function<void(std::uint64_t)> set, std::uint64_t low, std::uint64_t high,
                     std::string help, bool bytes) {
  const auto show = [bytes](std::uint64_t n) { return bytes ? PrintBytes(n) : fmt::format("{}", n); };
  auto take = [set = std::move(set), low, high, bytes, show](const std::string& text) -> Status {
    LW_ASSIGN_OR_RETURN(const std::uint64_t n, bytes ? ParseBytes(text) : ParseNumber(text));
    if (n < low || n > high) {
      return InvalidArgument("got {}, wanted a value from {} to {}", text, show(low), show(high));
    }
    set(n);
    return Status::Ok();
  };
  flags_.push_back({std::move(names), std::move(value), std::move(help), show(preset), false, std::move(take),
                    bytes ? FlagKind::kBytes : FlagKind::kNumber});
}

void FlagSet::BytesOrAuto(std::string names, std::uint32_t& target, std::uint32_t low, std::uint32_t high,
                          std::string help) {
  auto take = [&target, low, high](const std::string& text) -> Status {
    std::uint64_t n = 0;
    if (text != "auto") {
      LW_ASSIGN_OR_RETURN(n, ParseBytes(text));
    }
    if (n != 0 && (n < low || n > high)) {
      return InvalidArgument("got {}, wanted auto, or a value from {} to {}", text, PrintBytes(low),
                             PrintBytes(high));
    }
    target = static_cast<std::uint32_t>(n);
    return Status::Ok();
  };
  flags_.push_back({std::move(names), "BYTES", std::move(help), target == 0 ? "auto" : PrintBytes(target),
                    false, std::move(take), FlagKind::kBytes});
}

void FlagSet::Time(std::string names, std::chrono::milliseconds& target, std::string help) {
  auto take = [&target](const std::string& text) -> Status {
    LW_ASSIGN_OR_RETURN(target, ParseTime(text));
    return Status::Ok();
  };
  flags_.push_back({std::move(names), "TIME", std::move(help), PrintTime(target), false, std::move(take),
                    FlagKind::kTime});
}

void FlagSet::TimeLimit(std::string names, std::chrono::milliseconds& target, std::string help) {
  auto take = [&target](const std::string& text) -> Status {
    target = std::chrono::milliseconds(0);
    if (text == "none" || text == "0") return Status::Ok();
    const Result<std::chrono::milliseconds> time = ParseTime(text);
    if (!time.ok())
      return InvalidArgument("got \"{}\", wanted a time such as 250ms, 30s or 2m, or none", text);
    target = *time;
    return Status::Ok();
  };
  std::string fallback = target.count() == 0 ? "none" : PrintTime(target);
  flags_.push_back({std::move(names), "TIME", std::move(help), std::move(fallback), false, std::move(take),
                    FlagKind::kTime});
}

void FlagSet::OptionalTime(std::string names, bool& given, std::chrono::milliseconds& target,
                           std::string help) {
  auto take = [&given, &target](const std::string& text) -> Status {
    if (!text.empty()) {
      LW_ASSIGN_OR_RETURN(target, ParseTime(text));
    }
    given = true;
    return Status::Ok();
  };
  flags_.push_back({std::move(names), "[TIME]", std::move(help), PrintTime(target), false, std::move(take),
                    FlagKind::kTime, true});
}

void FlagSet::OptionalText(std::string names, std::string value, bool& given, std::string& target,
                           std::string help) {
  auto take = [&given, &target](const std::string& text) {
    if (!text.empty()) target = text;
    given = true;
    return Status::Ok();
  };
  flags_.push_back({std::move(names), "[" + value + "]", std::move(help), target, false, std::move(take),
                    FlagKind::kText, true});
}

void FlagSet::File(std::string names, std::string value, ReadFlagFile read, std::string help) {
  read_file_ = std::move(read);
  auto take = [](const std::string&) { return Status::Ok(); };  // taken before the flags
  flags_.push_back(
      {std::move(names), std::move(value), std::move(help), "", false, std::move(take), FlagKind::kFile});
}

void FlagSet::Text(std::string names, std::string value, std::string& target, std::string help, Check check) {
  auto take = [&target, check = std::move(check)](const std::string& text) -> Status {
    if (check) LW_RETURN_IF_ERROR(check(text));
    target = text;
    return Status::Ok();
  };
  flags_.push_back({std::move(names), std::move(value), std::move(help), target, false, std::move(take)});
}

void FlagSet::Word(std::string names, std::string value, std::string preset, std::vector<std::string> words,
                   std::function<void(std::size_t which)> set, std::string help) {
  auto take = [words = std::move(words), set = std::move(set)](const std::string& text) -> Status {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
      return InvalidArgument("got \"{}\", wanted {} or {}{}", text,
                             fmt::join(words.begin(), words.end() - 1, ", "), words.back(),
                             DidYouMean(text, words));
    }
    set(static_cast<std::size_t>(found - words.begin()));
    return Status::Ok();
  };
  flags_.push_back(
      {std::move(names), std::move(value), std::move(help), std::move(preset), false, std::move(take)});
}

void FlagSet::SwitchTo(bool to, std::string names, bool& target, std::string help) {
  auto take = [&target, to](const std::string&) {
    target = to;
    return Status::Ok();
  };
  flags_.push_back({std::move(names), "", std::move(help), "", false, std::move(take), FlagKind::kSwitch});
}

void FlagSet::Each(std::string names, std::string value, Check take, std::string help) {
  flags_.push_back({std::move(names), std::move(value), std::move(help), "", true, std::move(take)});
}

void FlagSet::EachFirst(std::string names, std::string value, Check take, std::string help) {
  Each(std::move(names), std::move(value), std::move(take), std::move(help));
  flags_.back().comes_first = true;
}

void FlagSet::NoteOrigin(std::string_view name, std::function<void(const std::string& origin)> note) {
  const auto found = std::ranges::find(flags_, name, &Flag::name);
  LW_CHECK(found != flags_.end(), "{}", name);
  found->note = std::move(note);
}

void FlagSet::Rest(std::string value, std::vector<std::string>& target, std::string help) {
  rest_ = &target;
  rest_value_ = std::move(value);
  rest_help_ = std::move(help);
}

void FlagSet::Words(std::string value, std::vector<std::string>& target, std::size_t low, std::size_t high,
                    std::string help) {
  words_ = &target;
  words_value_ = std::move(value);
  words_help_ = std::move(help);
  words_low_ = low;
  words_high_ = high;
}

const Flag* FlagSet::Find(std::string_view name) const {
  for (const Flag& flag : flags_) {
    for (const std::string& part : SplitAt(flag.names, ',')) {
      if (part == name) return &flag;
    }
  }
  return nullptr;
}

std::vector<std::string> FlagSet::names() const {
  std::vector<std::string> all;
  for (const Flag& flag : flags_) all.push_back(flag.name());
  return all;
}

void FlagSet::TakeRest(std::vector<std::string> words) {
  LW_CHECK(rest_ != nullptr);
  *rest_ = std::move(words);
}

Status FlagSet::TakeWords(std::vector<std::string> words) {
  LW_CHECK(words_ != nullptr);
  if (words.size() < words_low_) {
    if (words.empty()) return InvalidArgument("{}: not given, wanted {}", words_value_, words_help_);
    return InvalidArgument("{}: got {}, wanted {}", words_value_, Counted(words.size(), "word"), words_help_);
  }
  if (words.size() > words_high_) return InvalidArgument("unexpected \"{}\"", words[words_high_]);
  *words_ = std::move(words);
  return Status::Ok();
}

}  // namespace leeway::app
