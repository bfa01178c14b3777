// Formula: a condition over numbers, written by a user and asked on every pull or push (muParser).
//
// Belongs to one thread: its variables are set before each question. Takes no input but those, and changes
// nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/policy_config.h"
#include "leeway/status.h"
#include "sync/formula_syntax.h"

namespace leeway {

class Formula {
 public:
  // Variables are known by their place in `variables`. Constants must not have the name of one.
  [[nodiscard]] static Result<std::unique_ptr<Formula>> Make(
      std::string_view text, std::span<const std::string> variables,
      std::span<const PolicyConfig::Constant> constants, std::span<const ForeignName> foreign);
  virtual ~Formula() = default;

  // Whether the variable stands in it (one that it does not know does not); what others are set to does not
  // matter.
  [[nodiscard]] virtual bool Uses(std::size_t variable) const = 0;
  virtual void Set(std::size_t variable, double value) = 0;
  // Returns the formula's value; not finite after a division by zero or the like.
  [[nodiscard]] virtual double Value() = 0;
  [[nodiscard]] const std::string& text() const { return text_; }

 protected:
  explicit Formula(std::string_view text) : text_(text) {}

 private:
  const std::string text_;
};

}  // namespace leeway
