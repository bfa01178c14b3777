#include "sync/formula.h"

#include <muParser.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"

namespace leeway {
namespace {

class MuParserFormula final : public Formula {
 public:
  MuParserFormula(std::string_view text, std::size_t variables)
      : Formula(text), values_(variables, 0.0), used_(variables, false) {}

  // Throws mu::ParserError.
  void Compile(std::span<const std::string> variables, std::span<const PolicyConfig::Constant> constants,
               std::span<const std::string> used) {
    parser_.ClearConst();
    for (std::size_t v = 0; v < variables.size(); ++v) {
      used_[v] = std::ranges::find(used, variables[v]) != used.end();
      // Scratch copies: a change by the parser would not reach our values.
      if (used_[v]) parser_.DefineVar(variables[v], &values_[v]);
    }
    for (const PolicyConfig::Constant& constant : constants)
      parser_.DefineConst(constant.name, constant.value);
    parser_.SetExpr(text());
    (void)parser_.Eval();
  }

  bool Uses(std::size_t variable) const override { return variable < used_.size() && used_[variable]; }
  void Set(std::size_t variable, double value) override { values_[variable] = value; }
  double Value() override {
    try {
      return parser_.Eval();
    } catch (const mu::ParserError&) {
      // The formula was compiled and tried before, so it can fail now only with a value that is not a number.
      return std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::vector<double> values_;
  std::vector<bool> used_;
  mu::Parser parser_;
};

}  // namespace

Result<std::unique_ptr<Formula>> Formula::Make(std::string_view text, std::span<const std::string> variables,
                                               std::span<const PolicyConfig::Constant> constants,
                                               std::span<const ForeignName> foreign) {
  std::vector<std::string> known(variables.begin(), variables.end());
  for (const PolicyConfig::Constant& constant : constants) {
    if (!IsFormulaName(constant.name)) {
      return InvalidArgument("constant \"{}\": wanted a name of letters, digits and _ that is no function",
                             constant.name);
    }
    if (std::ranges::find(known, constant.name) != known.end()) {
      return InvalidArgument("constant \"{}\": it is a name of the state already, wanted another",
                             constant.name);
    }
    known.push_back(constant.name);
  }
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> used, CheckFormula(text, known, foreign));
  auto formula = std::make_unique<MuParserFormula>(text, variables.size());
  try {
    formula->Compile(variables, constants, used);
  } catch (const mu::ParserError& error) {
    return InvalidArgument("position {}: {}", error.GetPos() + 1, error.GetMsg());
  }
  return std::unique_ptr<Formula>(std::move(formula));
}

}  // namespace leeway
