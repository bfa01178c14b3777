// Registry: maps names to factories of one kind of policy. A builtin.def table fills it; users Add their own.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/policy_config.h"
#include "base/spec.h"

namespace leeway {

template <typename Policy>
class Registry {
 public:
  using Factory = std::function<Result<std::unique_ptr<Policy>>(const PolicyConfig&)>;

  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  // A later row replaces an earlier one of the same name.
  void Add(const std::string& name, Factory make) { factories_[name] = std::move(make); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, make] : factories_) names.push_back(name);
    return names;
  }

  [[nodiscard]] bool Has(const std::string& name) const { return factories_.contains(name); }
  [[nodiscard]] const std::string& kind() const { return kind_; }

  // Returns whether a spec of one term has a known name; its arguments may still be wrong.
  [[nodiscard]] Status CheckName(std::string_view text) const {
    LW_ASSIGN_OR_RETURN(const SpecTerm term, ParseOneTerm(text));
    return factories_.contains(term.name) ? Status::Ok() : Unknown(term.name);
  }

  // Makes the policy of one term, and does not check for arguments left over: the caller asks `config` for
  // its own ones (release=..., late=...) and then calls config.Finish().
  [[nodiscard]] Result<std::unique_ptr<Policy>> Make(const PolicyConfig& config) const {
    const auto found = factories_.find(config.name());
    if (found == factories_.end()) return Unknown(config.name());
    return found->second(config);
  }

  // Makes the policy of a spec of one term that has only the factory's own arguments. `resolved`, if given,
  // gets the term as the factory understood it.
  [[nodiscard]] Result<std::unique_ptr<Policy>> MakeFromSpec(std::string_view text,
                                                             SpecTerm* resolved = nullptr) const {
    LW_ASSIGN_OR_RETURN(const SpecTerm term, ParseOneTerm(text));
    const PolicyConfig config(kind_, term);
    LW_ASSIGN_OR_RETURN(std::unique_ptr<Policy> policy, Make(config));
    LW_RETURN_IF_ERROR(config.Finish());
    if (resolved != nullptr) *resolved = config.resolved();
    return policy;
  }

 private:
  [[nodiscard]] Result<SpecTerm> ParseOneTerm(std::string_view text) const {
    LW_ASSIGN_OR_RETURN(Spec spec, ParseSpec(text));
    if (spec.terms.size() != 1)
      return InvalidArgument("{} \"{}\": got {} terms, wanted one", kind_, text, spec.terms.size());
    return std::move(spec.terms[0]);
  }
  [[nodiscard]] Status Unknown(const std::string& name) const {
    const std::vector<std::string> known = names();
    return InvalidArgument("unknown {} \"{}\"; known: {}{}", kind_, name, fmt::join(known, ", "),
                           DidYouMean(name, known));
  }

  std::string kind_;
  std::map<std::string, Factory> factories_;
};

}  // namespace leeway
