// FormulaSyntax: the grammar of a formula: values, + - * / ^, comparisons, && and ||, parentheses, a few
// functions.
//
// The grammar is narrower than muParser's and is checked first. So muParser never sees a text that it would
// read in another sense (a lone = assigns, a comma drops the term before it), and every message has a
// position and a fix.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

inline constexpr std::size_t kFormulaBytesMax = 400;  // a text that takes well under a microsecond
inline constexpr std::size_t kFormulaDepthMax = 32;   // levels of parentheses

// A name that has a meaning elsewhere, and why it has none here.
struct ForeignName {
  std::string name, why;
};

// The known names that the formula uses, each once. An error names the position, counted from 1.
[[nodiscard]] Result<std::vector<std::string>> CheckFormula(std::string_view text,
                                                            std::span<const std::string> known,
                                                            std::span<const ForeignName> foreign);

// Returns whether a user's constant may have this name: a letter or _, then letters, digits and _, and no
// function.
[[nodiscard]] bool IsFormulaName(std::string_view name);

}  // namespace leeway
