// Formula: a user's condition over numbers (muParser), evaluated on every pull or push.
//
// Thread rule: one thread owns it and sets its variables before each evaluation. It has no other input and no
// side effect.
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
  // Variables are known by their place in `variables`. REQUIRES: no constant has the name of a variable.
  [[nodiscard]] static Result<std::unique_ptr<Formula>> Make(
      std::string_view text, std::span<const std::string> variables,
      std::span<const PolicyConfig::Constant> constants, std::span<const ForeignName> foreign);
  virtual ~Formula() = default;

  // Returns whether the formula uses the variable; false for an unknown one. Other variables may have any
  // value.
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
