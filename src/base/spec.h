// Spec strings: how policies are named in flags, files, Python and on the wire.
//
//   spec := term ('+' term)*      term := name [':' arg (',' arg)*] | name '(' spec ')'      arg := [key '=']
//   value
//
// A name or key is a letter or '_' and then letters, digits, '_', '-' and '.'. A value that holds any of
// ,+()=:" or a space is quoted, \" and \\ escape. Printing a parsed spec gives an equal spec.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

struct Spec;

struct SpecArg {
  std::string key;  // empty: positional
  std::string value;
  friend bool operator==(const SpecArg&, const SpecArg&) = default;
};

struct SpecTerm {
  std::string name;
  std::vector<SpecArg> args;
  std::vector<SpecTerm> inner;  // the terms inside name(...); empty if none
  friend bool operator==(const SpecTerm&, const SpecTerm&) = default;
};

struct Spec {
  std::vector<SpecTerm> terms;  // at least one
  friend bool operator==(const Spec&, const Spec&) = default;
};

inline constexpr std::size_t kSpecBytesMax = 4096;
inline constexpr std::size_t kSpecDepthMax = 16;  // levels of parentheses

// An error names the position and what was expected there.
[[nodiscard]] Result<Spec> ParseSpec(std::string_view text);
[[nodiscard]] std::string PrintSpec(const Spec& spec);
// Leaves out arguments, and keys of arguments, while `is_same` says that a spec still means the same: what a
// user would write, from a spec with every default spelled out. A text that is no spec stays as it is.
[[nodiscard]] std::string ShortSpec(const std::string& text,
                                    const std::function<bool(const std::string&)>& is_same);

// Specs and synchronization rules share both of these: neither text holds control characters, and a value in
// quotes is written alike.
[[nodiscard]] constexpr bool IsControlByte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u < 0x20 || u == 0x7F;
}
void AppendQuoted(std::string_view value, std::string& out);

}  // namespace leeway
