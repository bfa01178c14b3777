// DenseNetwork: fully connected layers with ReLU between them, over values that its caller holds.
//
// Values come in pairs, the weight [outputs, inputs] and the bias [outputs] of each layer. The constructor
// allocates all memory. BLAS computes the products on the calling thread alone, and the same input gives the
// same bits at any address. Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

class DenseNetwork {
 public:
  // `sizes`: of the input, of each hidden layer, of the output.
  // REQUIRES: at least two of them, none of them zero, and rows_max above zero.
  DenseNetwork(std::vector<std::size_t> sizes, std::size_t rows_max);

  // Where the caller writes the next input, row by row.
  [[nodiscard]] std::span<float> input() { return activations_.front(); }
  // The output for the first `rows` rows of the input. Valid until the next call.
  // REQUIRES: rows <= rows_max, and values of the right sizes.
  [[nodiscard]] std::span<const float> Forward(Values at, std::size_t rows);
  // Where the caller writes the gradient of a loss by the output of the last Forward.
  [[nodiscard]] std::span<float> output_gradient() { return gradients_.back(); }
  // The gradient of that loss by the values, for the rows of the last Forward.
  // REQUIRES: the values of that Forward.
  void Backward(Values at, MutableValues gradient);

 private:
  std::vector<std::size_t> sizes_;
  std::size_t rows_max_;
  std::size_t rows_ = 0;                         // of the last Forward
  std::vector<std::vector<float>> activations_;  // the input, then the output of each layer, after its ReLU
  std::vector<std::vector<float>> gradients_;    // of the loss by each of those; none by the input
};

}  // namespace leeway::problem
