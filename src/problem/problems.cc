#include "problem/image_shelf.h"
#include "problem/problem.h"

namespace leeway::problem {

#define LW_PROBLEM(name, make) Result<ProblemPtr> make(const PolicyConfig& config, ImageShelf& shelf);
#include "problem/builtin.def"
#undef LW_PROBLEM

Registry<Problem> BuiltinProblems() {
  // The factories below share it, so that a registry and its copies read a folder once.
  const auto shelf = std::make_shared<ImageShelf>();
  Registry<Problem> problems("problem");
#define LW_PROBLEM(name, make) \
  problems.Add(name, [shelf](const PolicyConfig& config) { return make(config, *shelf); });
#include "problem/builtin.def"
#undef LW_PROBLEM
  return problems;
}

}  // namespace leeway::problem
