// XmlFault: the reason why a text is not well-formed XML, or nothing. For tests: it knows elements,
// attributes, texts, entities and the doctype of HTML, which is all that the charts write.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leeway::chart::testing {

// One scan over one text.
class XmlScan {
 public:
  explicit XmlScan(std::string_view text) : text_(text) {}

  // Empty if the text is well-formed.
  std::string Fault() {
    if (text_.substr(0, 15) == "<!DOCTYPE html>") at_ = 15;
    while (fault_.empty() && at_ < text_.size()) {
      if (text_[at_] == '<') {
        ++at_;
        Tag();
      } else {
        Character();
      }
    }
    if (fault_.empty() && !open_.empty()) fault_ = fmt::format("<{}> is not closed", open_.back());
    if (fault_.empty() && roots_ != 1) fault_ = fmt::format("{} roots", roots_);
    return fault_;
  }

 private:
  static bool IsNameByte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
  }
  std::string_view Name() {
    const std::size_t first = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    if (at_ == first) Fail("a name is missing");
    return text_.substr(first, at_ - first);
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Fail(std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("{} at \"{}\"", what, text_.substr(at_ < 30 ? 0 : at_ - 30, 60));
  }
  // In a text or in an attribute.
  void Character() {
    const char c = text_[at_];
    if (c == '<') return Fail("< in an attribute");
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r')
      return Fail("a control character");
    if (c != '&') {
      if (open_.empty() && c != '\n' && c != ' ') Fail("text outside of the root");
      ++at_;
      return;
    }
    const std::size_t end = text_.find(';', at_);
    static const std::set<std::string_view> kKnown = {"&amp", "&lt", "&gt", "&quot", "&#39"};
    if (end == std::string_view::npos || !kKnown.contains(text_.substr(at_, end - at_)))
      return Fail("a bare &");
    at_ = end + 1;
  }
  void Tag() {
    if (Take('/')) {
      const std::string_view name = Name();
      if (open_.empty() || open_.back() != name)
        return Fail(fmt::format("</{}> closes something else", name));
      open_.pop_back();
      if (!Take('>')) Fail("> is missing");
      return;
    }
    open_.push_back(Name());
    if (open_.size() == 1) ++roots_;
    std::set<std::string_view> seen;
    while (fault_.empty() && (Take(' ') || Take('\n'))) {
      if (!seen.insert(Name()).second) return Fail("an attribute twice");
      if (!Take('=') || !Take('"')) return Fail("an attribute without a value");
      while (fault_.empty() && at_ < text_.size() && text_[at_] != '"') Character();
      if (!Take('"')) return Fail("\" is missing");
    }
    if (Take('/')) open_.pop_back();
    if (!Take('>')) Fail("> is missing");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int roots_ = 0;
  std::vector<std::string_view> open_;
  std::string fault_;
};

inline std::string XmlFault(std::string_view text) { return XmlScan(text).Fault(); }

inline std::size_t CountOf(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace leeway::chart::testing
