#include "base/policy_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"

namespace leeway {
namespace {

std::string DoubleRange(double low, double high) {
  const bool from = low > -std::numeric_limits<double>::max();
  const bool to = high < std::numeric_limits<double>::max();
  if (from && to) return fmt::format("a number from {} to {}", low, high);
  if (from) return fmt::format("a number of at least {}", low);
  if (to) return fmt::format("a number of at most {}", high);
  return "a finite number";
}

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ` (s, c), and s came by key too`, or the part of it that is true.
std::string PositionsTaken(const std::vector<std::string>& positional, const SpecTerm& term) {
  if (positional.empty()) return "";
  std::string text = fmt::format(" ({})", fmt::join(positional, ", "));
  for (const SpecArg& arg : term.args) {
    if (Holds(positional, arg.key)) text += fmt::format(", and {} came by key too", arg.key);
  }
  return text;
}

}  // namespace

PolicyConfig::PolicyConfig(std::string kind, SpecTerm term)
    : kind_(std::move(kind)), term_(std::move(term)), taken_(term_.args.size(), false) {
  resolved_.name = term_.name;
  resolved_.inner = term_.inner;
}

Result<PolicyConfig> PolicyConfig::OfOneTerm(const std::string& kind, std::string_view spec) {
  LW_ASSIGN_OR_RETURN(Spec parsed, ParseSpec(spec));
  if (parsed.terms.size() != 1) {
    return InvalidArgument("{} \"{}\": got {} terms, wanted one", kind, spec, parsed.terms.size());
  }
  return PolicyConfig(kind, std::move(parsed.terms[0]));
}

template <typename Value>
Result<Value> PolicyConfig::Note(std::string_view key, Result<Value> value) const {
  const auto known = [key](const SpecArg& arg) { return arg.key == key; };
  if (value.ok() && std::ranges::none_of(resolved_.args, known)) {
    resolved_.args.push_back({std::string(key), fmt::format("{}", *value)});
  }
  return value;
}

const SpecArg* PolicyConfig::Take(std::string_view key, bool positional) const {
  if (!Holds(asked_, key)) asked_.emplace_back(key);
  for (std::size_t i = 0; i < term_.args.size(); ++i) {
    if (term_.args[i].key != key || key.empty()) continue;
    taken_[i] = true;
    // The argument keeps its place among the positional ones, so that a later argument does not slide into
    // it.
    if (positional && !Holds(asked_positional_, key)) asked_positional_.emplace_back(key);
    return &term_.args[i];
  }
  if (!positional) return nullptr;

  auto place = std::find(asked_positional_.begin(), asked_positional_.end(), key);
  if (place == asked_positional_.end()) place = asked_positional_.emplace(place, key);
  auto before = place - asked_positional_.begin();
  for (std::size_t i = 0; i < term_.args.size(); ++i) {
    if (!term_.args[i].key.empty() || before-- > 0) continue;
    taken_[i] = true;
    return &term_.args[i];
  }
  return nullptr;
}

std::string PolicyConfig::Where(std::string_view key) const {
  return fmt::format("{} \"{}\": {}", kind_, term_.name, key);
}

Result<std::int64_t> PolicyConfig::ParseInt(std::string_view key, const SpecArg& arg, std::int64_t low,
                                            std::int64_t high) const {
  const std::optional<std::int64_t> value = NumberFrom<std::int64_t>(arg.value);
  if (!value || *value < low || *value > high) {
    return InvalidArgument("{}: got \"{}\", wanted a whole number from {} to {}", Where(key), arg.value, low,
                           high);
  }
  return *value;
}

Result<std::string> PolicyConfig::CheckOneOf(std::string_view key, const SpecArg& arg,
                                             const std::vector<std::string>& known) const {
  if (Holds(known, arg.value)) return arg.value;
  return InvalidArgument("{}: got \"{}\", wanted one of: {}{}", Where(key), arg.value, fmt::join(known, ", "),
                         DidYouMean(arg.value, known));
}

Result<std::int64_t> PolicyConfig::IntInRange(std::string_view key, std::int64_t low, std::int64_t high,
                                              std::optional<std::int64_t> absent) const {
  const SpecArg* arg = Take(key, true);
  if (arg != nullptr) return Note(key, ParseInt(key, *arg, low, high));
  if (absent) return Note<std::int64_t>(key, *absent);
  return InvalidArgument("{}: got nothing, wanted a whole number from {} to {}", Where(key), low, high);
}

Result<double> PolicyConfig::DoubleInRange(std::string_view key, double low, double high,
                                           std::optional<double> absent) const {
  const SpecArg* arg = Take(key, true);
  if (arg == nullptr) {
    if (absent) return Note<double>(key, *absent);
    return InvalidArgument("{}: got nothing, wanted {}", Where(key), DoubleRange(low, high));
  }
  const std::optional<double> value = NumberFrom<double>(arg->value);
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    return InvalidArgument("{}: got \"{}\", wanted {}", Where(key), arg->value, DoubleRange(low, high));
  }
  return Note<double>(key, *value);
}

Result<std::string> PolicyConfig::OneOf(std::string_view key, const std::vector<std::string>& known,
                                        std::optional<std::string> absent) const {
  const SpecArg* arg = Take(key, true);
  if (arg != nullptr) return Note(key, CheckOneOf(key, *arg, known));
  if (absent) return Note<std::string>(key, *std::move(absent));
  return InvalidArgument("{}: got nothing, wanted one of: {}", Where(key), fmt::join(known, ", "));
}

Result<std::string> PolicyConfig::Text(std::string_view key, std::string_view wanted,
                                       std::optional<std::string> absent) const {
  const SpecArg* arg = Take(key, true);
  if (arg != nullptr) return Note<std::string>(key, arg->value);
  if (absent) return Note<std::string>(key, *std::move(absent));
  return InvalidArgument("{}: got nothing, wanted {}", Where(key), wanted);
}

Result<std::string> PolicyConfig::KeyedOneOf(std::string_view key, const std::vector<std::string>& known,
                                             std::string absent) const {
  const SpecArg* arg = Take(key, false);
  if (arg != nullptr) return Note(key, CheckOneOf(key, *arg, known));
  return Note<std::string>(key, std::move(absent));
}

Result<std::int64_t> PolicyConfig::KeyedIntInRange(std::string_view key, std::int64_t low, std::int64_t high,
                                                   std::int64_t absent) const {
  const SpecArg* arg = Take(key, false);
  if (arg != nullptr) return Note(key, ParseInt(key, *arg, low, high));
  return Note<std::int64_t>(key, absent);
}

Result<std::string> PolicyConfig::KeyedText(std::string_view key, std::string_view wanted,
                                            std::optional<std::string> absent) const {
  const SpecArg* arg = Take(key, false);
  if (arg != nullptr) return Note<std::string>(key, arg->value);
  if (absent) return Note<std::string>(key, *std::move(absent));
  return InvalidArgument("{}: got nothing, wanted {}", Where(key), wanted);
}

Result<std::vector<PolicyConfig::Constant>> PolicyConfig::OtherConstants(
    const std::vector<std::string>& reserved) const {
  std::vector<std::string> known = asked_;
  known.insert(known.end(), reserved.begin(), reserved.end());
  std::vector<Constant> constants;
  for (const SpecArg& arg : term_.args) {
    if (arg.key.empty() || Holds(known, arg.key)) continue;
    const std::optional<double> value = NumberFrom<double>(arg.value);
    if (!value || !std::isfinite(*value)) {
      return InvalidArgument("{}: got \"{}\", wanted a finite number{}", Where(arg.key), arg.value,
                             DidYouMean(arg.key, known));
    }
    // A second argument of the same key stays untaken, and Finish refuses it.
    if (Holds(asked_, arg.key)) continue;
    (void)Take(arg.key, false);
    LW_RETURN_IF_ERROR(Note<double>(arg.key, *value).status());
    constants.push_back({arg.key, *value});
  }
  return constants;
}

bool PolicyConfig::HasKey(std::string_view key) const {
  return std::ranges::any_of(term_.args, [key](const SpecArg& arg) { return arg.key == key; });
}

Status PolicyConfig::UnknownName(const std::vector<std::string>& known) const {
  return InvalidArgument("unknown {} \"{}\"; known: {}{}", kind_, term_.name, fmt::join(known, ", "),
                         DidYouMean(term_.name, known));
}

Status PolicyConfig::Finish() const {
  if (!term_.inner.empty() && !inner_asked_) {
    return InvalidArgument("{} \"{}\": got terms in parentheses, wanted none", kind_, term_.name);
  }
  for (std::size_t i = 0; i < term_.args.size(); ++i) {
    if (taken_[i]) continue;
    const SpecArg& arg = term_.args[i];
    if (Holds(asked_, arg.key)) {
      return InvalidArgument("{}: got it twice, wanted it once", Where(arg.key));
    }
    if (!arg.key.empty()) {
      return InvalidArgument("{} \"{}\": unknown argument \"{}\"; known: {}{}", kind_, term_.name, arg.key,
                             asked_.empty() ? "none" : fmt::format("{}", fmt::join(asked_, ", ")),
                             DidYouMean(arg.key, asked_));
    }
    return InvalidArgument("{} \"{}\": argument \"{}\" is one too many; without a key it takes {}{}", kind_,
                           term_.name, arg.value, asked_positional_.size(),
                           PositionsTaken(asked_positional_, term_));
  }
  return Status::Ok();
}

}  // namespace leeway
