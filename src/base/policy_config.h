// PolicyConfig: the arguments of one spec term, as a policy's factory asks for them.
//
// A factory asks for its arguments in declared order: the n-th argument asked for is also the n-th positional
// one. Finish runs after the factory and reports every argument that was given and never asked for. Asking
// twice gives the same value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/spec.h"
#include "leeway/status.h"

namespace leeway {

class PolicyConfig {
 public:
  // `kind` is for messages: "sync model", "optimizer", ...
  PolicyConfig(std::string kind, SpecTerm term);
  // Of a spec that must be one term.
  [[nodiscard]] static Result<PolicyConfig> OfOneTerm(const std::string& kind, std::string_view spec);

  [[nodiscard]] const std::string& name() const { return term_.name; }
  // The terms in parentheses. Finish refuses parentheses that nobody looked into.
  [[nodiscard]] const std::vector<SpecTerm>& inner() const {
    inner_asked_ = true;
    return term_.inner;
  }

  // Without a default an absent argument is an error. Bounds are inclusive.
  [[nodiscard]] Result<std::int64_t> IntInRange(std::string_view key, std::int64_t low, std::int64_t high,
                                                std::optional<std::int64_t> absent = std::nullopt) const;
  [[nodiscard]] Result<double> DoubleInRange(std::string_view key, double low, double high,
                                             std::optional<double> absent = std::nullopt) const;
  [[nodiscard]] Result<std::string> OneOf(std::string_view key, const std::vector<std::string>& known,
                                          std::optional<std::string> absent = std::nullopt) const;
  // Any text. Without a default an absent one is an error that says what was wanted.
  [[nodiscard]] Result<std::string> Text(std::string_view key, std::string_view wanted,
                                         std::optional<std::string> absent = std::nullopt) const;
  // Key-only arguments (never positional): `release=soft`.
  [[nodiscard]] Result<std::string> KeyedOneOf(std::string_view key, const std::vector<std::string>& known,
                                               std::string absent) const;
  [[nodiscard]] Result<std::int64_t> KeyedIntInRange(std::string_view key, std::int64_t low,
                                                     std::int64_t high, std::int64_t absent) const;
  // Any text, quoted in the spec if it must be. Without a default an absent one is an error that says what
  // was wanted.
  [[nodiscard]] Result<std::string> KeyedText(std::string_view key, std::string_view wanted,
                                              std::optional<std::string> absent = std::nullopt) const;
  // Every argument with a key that nobody has asked for yet and that is not in `reserved`, as a finite
  // number: the user's own names, in the order of the spec. `reserved` are those that are asked for later.
  struct Constant {
    std::string name;
    double value;
  };
  [[nodiscard]] Result<std::vector<Constant>> OtherConstants(const std::vector<std::string>& reserved) const;
  // Whether the argument was given by its key.
  [[nodiscard]] bool HasKey(std::string_view key) const;
  // For a policy of none of the known names.
  [[nodiscard]] Status UnknownName(const std::vector<std::string>& known) const;

  // The term with every argument that was asked for, by key and with the value in use, given or not: two
  // terms that mean the same are equal.
  [[nodiscard]] const SpecTerm& resolved() const { return resolved_; }

  // An error if an argument was given that nobody asked for (unknown key with a suggestion, or one too many).
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
  // Which arguments were taken and which keys were asked for; asking does not change what a config means.
  mutable std::vector<bool> taken_;
  mutable std::vector<std::string> asked_;             // all, in the order of asking
  mutable std::vector<std::string> asked_positional_;  // those that may come without a key
  mutable bool inner_asked_ = false;
  mutable SpecTerm resolved_;
};

}  // namespace leeway
