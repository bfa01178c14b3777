#include "sync/formula_syntax.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/errors.h"

namespace leeway {
namespace {

// muParser's functions, without those that no condition needs.
constexpr std::array<std::string_view, 11> kFunctions = {"abs", "avg", "exp",  "ln",   "log10", "log2",
                                                         "max", "min", "rint", "sqrt", "sum"};

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsFunction(std::string_view name) { return std::ranges::find(kFunctions, name) != kFunctions.end(); }

// Words of other languages, and their equivalents here.
std::string_view Meant(std::string_view name) {
  if (name == "and") return "&&";
  if (name == "or") return "||";
  if (name == "not") return "== 0 after the value";
  return "";
}

// Values and operators take turns; each Take function begins at at_ and leaves at_ behind what it took.
class SyntaxCheck {
 public:
  SyntaxCheck(std::string_view text, std::span<const std::string> known, std::span<const ForeignName> foreign)
      : text_(text), known_(known), foreign_(foreign) {}

  Status Run() {
    while (SkipSpaces(), at_ < text_.size()) {
      LW_RETURN_IF_ERROR(wants_value_ ? TakeValue() : TakeOperator());
    }
    if (wants_value_) return Unexpected("a value");
    if (levels_.size() > 1) return Unexpected("')'");
    return Status::Ok();
  }
  std::vector<std::string> used() && { return std::move(used_); }

 private:
  struct Level {
    bool function = false;  // between the parentheses of one: commas are for its arguments
    bool compared = false;  // since the last && or ||
  };

  void SkipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char Next(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view TakeName() {
    const std::size_t begin = at_;
    while (IsLetter(Next()) || IsDigit(Next())) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  Status Unexpected(std::string_view wanted) const {
    if (at_ >= text_.size()) return InvalidArgument("position {}: got its end, wanted {}", at_ + 1, wanted);
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x20 || byte >= 0x7F)
      return InvalidArgument("position {}: got byte 0x{:02X}, wanted {}", at_ + 1, byte, wanted);
    return InvalidArgument("position {}: got '{}', wanted {}", at_ + 1, text_[at_], wanted);
  }

  Status TakeValue() {
    const char c = Next();
    if (IsLetter(c)) return TakeWord();
    if (IsDigit(c) || c == '.') return TakeNumber();
    if (c == '(') {
      ++at_;
      return Open(false);
    }
    if (c == '-' && !negated_) {
      negated_ = true;
      ++at_;
      return Status::Ok();
    }
    if (c == '!') return Unexpected("a value (not x is written x == 0)");
    return Unexpected("a value");
  }

  Status TakeWord() {
    const std::size_t begin = at_;
    const std::string_view name = TakeName();
    const bool called = Next() == '(';
    if (IsFunction(name)) {
      if (!called)
        return InvalidArgument("position {}: got no '(' after {}, wanted its arguments", at_ + 1, name);
      ++at_;
      return Open(true);
    }
    if (called) {
      return InvalidArgument("position {}: unknown function \"{}\"; known: {}", begin + 1, name,
                             fmt::join(kFunctions, ", "));
    }
    LW_RETURN_IF_ERROR(CheckName(name, begin));
    if (std::ranges::find(used_, name) == used_.end()) used_.emplace_back(name);
    GotValue();
    return Status::Ok();
  }

  Status CheckName(std::string_view name, std::size_t begin) const {
    if (std::ranges::find(known_, name) != known_.end()) return Status::Ok();
    const auto elsewhere = std::ranges::find(foreign_, name, &ForeignName::name);
    if (elsewhere != foreign_.end())
      return InvalidArgument("position {}: got {}, {}", begin + 1, name, elsewhere->why);
    if (!Meant(name).empty())
      return InvalidArgument("position {}: got \"{}\", wanted {}", begin + 1, name, Meant(name));
    return InvalidArgument("position {}: unknown name \"{}\"; known: {}{}", begin + 1, name,
                           fmt::join(known_, ", "), DidYouMean(name, known_));
  }

  Status TakeNumber() {
    std::size_t digits = 0;
    for (; IsDigit(Next()); ++at_) ++digits;
    if (Next() == '.') {
      for (++at_; IsDigit(Next()); ++at_) ++digits;
    }
    if (digits == 0) return Unexpected("digits");
    if (Next() == 'e' || Next() == 'E') {
      ++at_;
      if (Next() == '-' || Next() == '+') ++at_;
      if (!IsDigit(Next())) return Unexpected("digits of the exponent");
      while (IsDigit(Next())) ++at_;
    }
    if (IsLetter(Next()) || Next() == '.') return Unexpected("an operator after a number");
    GotValue();
    return Status::Ok();
  }

  Status Open(bool function) {
    if (levels_.size() > kFormulaDepthMax) {
      return InvalidArgument("position {}: got more than {} levels of parentheses, wanted at most {}", at_,
                             kFormulaDepthMax, kFormulaDepthMax);
    }
    levels_.push_back({.function = function});
    negated_ = false;
    return Status::Ok();
  }

  void GotValue() {
    wants_value_ = false;
    negated_ = false;
  }

  Status TakeOperator() {
    const char c = Next();
    if (c == ')') {
      if (levels_.size() == 1) return Unexpected("an operator or the end");
      levels_.pop_back();
      ++at_;
      return Status::Ok();
    }
    if (c == ',') {
      if (!levels_.back().function)
        return Unexpected("an operator: a comma stands between arguments of a function only");
      return TookOperator(1, false);
    }
    if (IsLetter(c)) return RefuseWord();
    if (c == '<' || c == '>' || c == '!' || c == '=') return TakeComparison();
    if (c == '&' || c == '|') {
      if (Next(1) != c) return Unexpected(c == '&' ? "&&" : "||");
      return TookOperator(2, false);
    }
    if (std::string_view("+-*/^").find(c) == std::string_view::npos)
      return Unexpected("an operator or the end");
    ++at_;
    wants_value_ = true;
    return Status::Ok();
  }

  Status RefuseWord() {
    const std::size_t begin = at_;
    const std::string_view name = TakeName();
    return InvalidArgument("position {}: got \"{}\", wanted {}", begin + 1, name,
                           Meant(name).empty() ? "an operator or the end" : Meant(name));
  }

  Status TakeComparison() {
    const bool two = Next(1) == '=';
    if (Next() == '=' && !two) return Unexpected("== to compare (nothing is assigned here)");
    if (Next() == '!' && !two) return Unexpected("an operator");
    if (levels_.back().compared) {
      return InvalidArgument("position {}: got a second comparison, wanted && between two (a < b && b < c)",
                             at_ + 1);
    }
    return TookOperator(two ? 2 : 1, true);
  }

  Status TookOperator(std::size_t length, bool compared) {
    at_ += length;
    levels_.back().compared = compared;
    wants_value_ = true;
    return Status::Ok();
  }

  const std::string_view text_;
  const std::span<const std::string> known_;
  const std::span<const ForeignName> foreign_;
  std::size_t at_ = 0;
  bool wants_value_ = true;
  bool negated_ = false;
  std::vector<Level> levels_ = {{}};
  std::vector<std::string> used_;
};

}  // namespace

Result<std::vector<std::string>> CheckFormula(std::string_view text, std::span<const std::string> known,
                                              std::span<const ForeignName> foreign) {
  if (text.size() > kFormulaBytesMax) {
    return InvalidArgument("got {} bytes, wanted at most {}", text.size(), kFormulaBytesMax);
  }
  SyntaxCheck check(text, known, foreign);
  LW_RETURN_IF_ERROR(check.Run());
  return std::move(check).used();
}

bool IsFormulaName(std::string_view name) {
  return !name.empty() && IsLetter(name[0]) &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c); }) && !IsFunction(name) &&
         Meant(name).empty();
}

}  // namespace leeway
