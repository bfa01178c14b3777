#include "base/spec.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::string_view kSpecial = ",+()=:\"";

constexpr bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool IsNameChar(char c) { return IsNameStart(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }
constexpr bool IsBareValueChar(char c) {
  return c != ' ' && !IsControlByte(c) && kSpecial.find(c) == std::string_view::npos;
}

// Recursive descent; each Parse function begins at at_ and leaves at_ behind what it took.
class SpecParser {
 public:
  explicit SpecParser(std::string_view text) : text_(text) {}

  Result<Spec> Parse() {
    Spec spec;
    LW_RETURN_IF_ERROR(ParseTerms(0, spec.terms));
    if (!AtEnd()) return Unexpected("'+' or the end");
    return spec;
  }

 private:
  [[nodiscard]] bool AtEnd() const { return at_ == text_.size(); }
  [[nodiscard]] bool Sees(char c) const { return !AtEnd() && text_[at_] == c; }
  bool Skip(char c) {
    if (!Sees(c)) return false;
    ++at_;
    return true;
  }

  // Positions are bytes, counted from 1 as people do.
  [[nodiscard]] Status Unexpected(std::string_view wanted) const {
    if (AtEnd())
      return InvalidArgument("spec \"{}\": got its end at position {}, wanted {}", text_, at_ + 1, wanted);
    const char c = text_[at_];
    // A control character, or one byte of a longer character: alone it would spoil the message as UTF-8.
    if (IsControlByte(c) || static_cast<unsigned char>(c) >= 0x80) {
      return InvalidArgument("spec{}: got byte 0x{:02X} at position {}, wanted {}",
                             IsControlByte(c) ? "" : fmt::format(" \"{}\"", text_),
                             static_cast<unsigned char>(c), at_ + 1, wanted);
    }
    return InvalidArgument("spec \"{}\": got '{}' at position {}, wanted {}", text_, c, at_ + 1, wanted);
  }

  Status ParseTerms(std::size_t depth, std::vector<SpecTerm>& terms) {
    do {
      LW_RETURN_IF_ERROR(ParseTerm(depth, terms.emplace_back()));
    } while (Skip('+'));
    return Status::Ok();
  }

  Status ParseTerm(std::size_t depth, SpecTerm& term) {
    if (AtEnd() || !IsNameStart(text_[at_])) return Unexpected("a name");
    term.name = TakeName();
    if (Skip(':')) return ParseArgs(term);
    if (!Sees('(')) return Status::Ok();
    if (depth == kSpecDepthMax) {
      return InvalidArgument("spec: got more than {} levels of parentheses at position {}, wanted at most {}",
                             kSpecDepthMax, at_ + 1, kSpecDepthMax);
    }
    Skip('(');
    LW_RETURN_IF_ERROR(ParseTerms(depth + 1, term.inner));
    return Skip(')') ? Status::Ok() : Unexpected("'+' or ')'");
  }

  Status ParseArgs(SpecTerm& term) {
    do {
      LW_RETURN_IF_ERROR(ParseArg(term.args.emplace_back()));
    } while (Skip(','));
    return Status::Ok();
  }

  // A key is a name before '='; only the '=' tells it from a bare value.
  Status ParseArg(SpecArg& arg) {
    const std::size_t begin = at_;
    if (!AtEnd() && IsNameStart(text_[at_])) {
      std::string key = TakeName();
      if (Skip('=')) {
        arg.key = std::move(key);
      } else {
        at_ = begin;
      }
    }
    return Skip('"') ? ParseQuoted(arg.value) : ParseBare(arg.value);
  }

  Status ParseBare(std::string& value) {
    const std::size_t begin = at_;
    while (!AtEnd() && IsBareValueChar(text_[at_])) ++at_;
    if (at_ == begin) return Unexpected("a value (quoted if it holds any of ,+()=:\" or a space)");
    value = text_.substr(begin, at_ - begin);
    return Status::Ok();
  }

  Status ParseQuoted(std::string& value) {
    while (!Skip('"')) {
      if (Skip('\\') && !Sees('"') && !Sees('\\')) return Unexpected("\" or \\ after a \\");
      if (AtEnd()) return Unexpected("the closing quote");
      value.push_back(text_[at_++]);
    }
    return Status::Ok();
  }

  std::string TakeName() {
    const std::size_t begin = at_;
    while (!AtEnd() && IsNameChar(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

void PrintValue(const std::string& value, std::string& out) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), IsBareValueChar)) {
    out += value;
  } else {
    AppendQuoted(value, out);
  }
}

void PrintTerms(const std::vector<SpecTerm>& terms, std::string& out) {
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (t > 0) out += '+';
    out += terms[t].name;
    if (!terms[t].inner.empty()) {
      out += '(';
      PrintTerms(terms[t].inner, out);
      out += ')';
    }
    for (std::size_t a = 0; a < terms[t].args.size(); ++a) {
      const SpecArg& arg = terms[t].args[a];
      out += a == 0 ? ':' : ',';
      if (!arg.key.empty()) out.append(arg.key).append("=");
      PrintValue(arg.value, out);
    }
  }
}

}  // namespace

void AppendQuoted(std::string_view value, std::string& out) {
  out += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

Result<Spec> ParseSpec(std::string_view text) {
  if (text.size() > kSpecBytesMax) {
    return InvalidArgument("spec: got {} bytes, wanted at most {}", text.size(), kSpecBytesMax);
  }
  return SpecParser(text).Parse();
}

std::string PrintSpec(const Spec& spec) {
  std::string out;
  PrintTerms(spec.terms, out);
  return out;
}

std::string ShortSpec(const std::string& text, const std::function<bool(const std::string&)>& is_same) {
  Result<Spec> parsed = ParseSpec(text);
  if (!parsed.ok()) return text;
  Spec spec = *std::move(parsed);
  for (std::size_t t = 0; t < spec.terms.size(); ++t) {
    const auto take = [&](std::vector<SpecArg> args) {
      Spec shorter = spec;
      shorter.terms[t].args = std::move(args);
      if (!is_same(PrintSpec(shorter))) return false;
      spec = std::move(shorter);
      return true;
    };
    for (std::size_t a = spec.terms[t].args.size(); a-- > 0;) {
      std::vector<SpecArg> fewer = spec.terms[t].args;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(a));
      take(std::move(fewer));
    }
    for (std::size_t a = 0; a < spec.terms[t].args.size(); ++a) {
      std::vector<SpecArg> bare = spec.terms[t].args;
      bare[a].key.clear();
      if (!take(std::move(bare))) break;
    }
  }
  return PrintSpec(spec);
}

}  // namespace leeway
