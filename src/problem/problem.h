// Problem: the training task of simulated workers. One file per kind in src/problem/, one row in builtin.def.
//
// A problem has tables, in the order in which a forward pass uses them, a batch and a gradient for every
// (rank, step), and a judgement of parameters. It keeps no state of a run: its results depend only on its
// spec and its arguments, so the same seed gives the same run. Thread rule: one thread at a time; instances
// of one registry share the files that they have read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/registry.h"

namespace leeway::problem {

struct Table {
  std::string name;
  std::vector<std::int64_t> shape;  // one element stands for grain() of the model's
  // Of the forward pass of one sample; 0 where the source of the table does not say.
  std::uint64_t multiply_adds = 0;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (const std::int64_t extent : shape) n *= static_cast<std::uint64_t>(extent);
    return n;
  }
};

// The values of every table, in their order: of parameters, or of gradients.
using Values = std::span<const std::span<const float>>;
using MutableValues = std::span<const std::span<float>>;

// Names a batch: a hash of all three draws its samples.
struct BatchKey {
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint64_t step = 0;
};

// A judgement of parameters. NaN for a figure that the problem does not have.
struct Judgement {
  double loss = 0;
  double accuracy = 0;  // share of a test set that is classified rightly
};

class Problem {
 public:
  virtual ~Problem() = default;
  [[nodiscard]] virtual const std::vector<Table>& tables() const = 0;
  // The number of model elements that one element stands for. Above 1, values mean nothing and sizes must be
  // multiplied.
  [[nodiscard]] virtual std::uint32_t grain() const { return 1; }
  // Samples in a batch, for learning rates and for people.
  [[nodiscard]] virtual std::uint32_t batch() const = 0;
  // The values to begin with.
  virtual void Begin(std::uint64_t seed, MutableValues values) const = 0;
  // The gradient of the mean loss over the batch, written into `gradient`; returns that loss.
  virtual double Gradient(const BatchKey& batch, Values at, MutableValues gradient) = 0;
  // Returns the gradient of every batch, for problems whose gradient is always the same. Simulated workers
  // then lend this one, which lives as long as the problem, and none computes or keeps its own. The laziest
  // correct implementation returns an empty list.
  [[nodiscard]] virtual Values FixedGradient() { return {}; }
  // Judges over all held-back data. May take much longer than a gradient.
  [[nodiscard]] virtual Judgement Judge(Values at) = 0;
};

using ProblemPtr = std::unique_ptr<Problem>;

// The most bytes of a problem's parameters and working memory; a factory refuses more.
inline constexpr std::uint64_t kProblemBytesMax = std::uint64_t{2} << 30;

// "quadratic:...", "softmax:...", "mlp:...", "ghost:...": the rows of builtin.def.
[[nodiscard]] Registry<Problem> BuiltinProblems();

}  // namespace leeway::problem
