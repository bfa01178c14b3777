// PolicyConfig: the arguments of one spec term, as a policy's factory asks for them (PolicyArguments), and
// what only factories in this tree may ask.
//
// Finish runs after the factory and reports every argument that was given and never asked for. Asking twice
// gives the same value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/spec.h"
#include "leeway/policy_arguments.h"
#include "leeway/status.h"

namespace leeway {

class PolicyConfig final : public PolicyArguments {
 public:
  // `kind` is for messages: "sync model", "optimizer", ...
  PolicyConfig(std::string kind, SpecTerm term);
  // Parses a spec that must be one term.
  [[nodiscard]] static Result<PolicyConfig> OfOneTerm(const std::string& kind, std::string_view spec);

  [[nodiscard]] const std::string& name() const { return term_.name; }
  // The terms in parentheses. Finish refuses parentheses that the factory did not ask for.
  [[nodiscard]] const std::vector<SpecTerm>& inner() const {
    inner_asked_ = true;
    return term_.inner;
  }

  [[nodiscard]] Result<std::int64_t> IntInRange(
      std::string_view key, std::int64_t low, std::int64_t high,
      std::optional<std::int64_t> absent = std::nullopt) const override;
  [[nodiscard]] Result<double> DoubleInRange(std::string_view key, double low, double high,
                                             std::optional<double> absent = std::nullopt) const override;
  [[nodiscard]] Result<std::string> OneOf(std::string_view key, const std::vector<std::string>& known,
                                          std::optional<std::string> absent = std::nullopt) const override;
  [[nodiscard]] Result<std::string> Text(std::string_view key, std::string_view wanted,
                                         std::optional<std::string> absent = std::nullopt) const override;
  [[nodiscard]] Result<std::string> KeyedOneOf(std::string_view key, const std::vector<std::string>& known,
                                               std::string absent) const override;
  [[nodiscard]] Result<std::int64_t> KeyedIntInRange(std::string_view key, std::int64_t low,
                                                     std::int64_t high, std::int64_t absent) const override;
  // Any text, quoted in the spec if necessary. Without a default an absent argument is an error that names
  // the wanted one.
  [[nodiscard]] Result<std::string> KeyedText(std::string_view key, std::string_view wanted,
                                              std::optional<std::string> absent = std::nullopt) const;
  // Every keyed argument that the factory has not asked for yet and that is not in `reserved`, as a finite
  // number: the user's own names, in the order of the spec. `reserved` holds the keys that the factory asks
  // for later.
  struct Constant {
    std::string name;
    double value;
  };
  [[nodiscard]] Result<std::vector<Constant>> OtherConstants(const std::vector<std::string>& reserved) const;
  // Whether the argument was given by its key.
  [[nodiscard]] bool HasKey(std::string_view key) const;
  // The error for a name outside of `known`.
  [[nodiscard]] Status UnknownName(const std::vector<std::string>& known) const;

  // The term with every argument that the factory asked for, by key and with the value in use, given or
  // default. Two terms with the same meaning are equal.
  [[nodiscard]] const SpecTerm& resolved() const { return resolved_; }

  // Returns an error if the factory did not ask for a given argument (an unknown key, with a suggestion, or
  // one argument too many).
  [[nodiscard]] Status Finish() const;

 private:
  template <typename Value>
  Result<Value> Note(std::string_view key, Result<Value> value) const;
  [[nodiscard]] const SpecArg* Take(std::string_view key, bool positional) const;
  // `sync model "ssp": s`, the beginning of every message about one argument.
  [[nodiscard]] std::string Where(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> ParseInt(std::string_view key, const SpecArg& arg, std::int64_t low,
                                              std::int64_t high) const;
  [[nodiscard]] Result<std::string> CheckOneOf(std::string_view key, const SpecArg& arg,
                                               const std::vector<std::string>& known) const;

  std::string kind_;
  SpecTerm term_;
  // The arguments taken and the keys asked for; asking does not change the meaning of a config.
  mutable std::vector<bool> taken_;
  mutable std::vector<std::string> asked_;             // all, in the order of asking
  mutable std::vector<std::string> asked_positional_;  // the arguments that may come without a key
  mutable bool inner_asked_ = false;
  mutable SpecTerm resolved_;
};

}  // namespace leeway
