#include "problem/dense_network.h"

#include <Eigen/Core>
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.h"

#ifndef EIGEN_USE_BLAS
#error "Eigen's own products are several times slower here: define EIGEN_USE_BLAS for all of src/problem"
#endif

namespace leeway::problem {
namespace {

// Eigen does only the products. Its sums begin where memory is aligned, so their rounding would depend on
// addresses; BLAS packs its inputs first.
using DenseMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The first rows x columns of the values.
Eigen::Map<const DenseMatrix> Matrix(std::span<const float> values, std::size_t rows, std::size_t columns) {
  return {values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

Eigen::Map<DenseMatrix> MutableMatrix(std::span<float> values, std::size_t rows, std::size_t columns) {
  return {values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

// OpenBLAS without threads hands the same packing buffer to two threads that multiply at the same time. We
// saw two runs of one study, side by side, both give other bits than alone. So a process does one product at
// a time; the threads share nothing else.
std::mutex& OneProductAtATime() {
  static std::mutex mutex;
  return mutex;
}

template <typename Product>
void Multiply(Eigen::Map<DenseMatrix> into, const Product& product) {
  const std::lock_guard lock(OneProductAtATime());
  into.noalias() = product;
}

void CheckSizes(std::size_t weight, std::size_t bias, std::size_t inputs, std::size_t outputs) {
  LW_CHECK(weight == outputs * inputs && bias == outputs, "a weight of {} and a bias of {} for {} x {}",
           weight, bias, outputs, inputs);
}

}  // namespace

DenseNetwork::DenseNetwork(std::vector<std::size_t> sizes, std::size_t rows_max)
    : sizes_(std::move(sizes)), rows_max_(rows_max), gradients_(1) {
  LW_CHECK(sizes_.size() >= 2 && rows_max_ > 0, "{} sizes, {} rows", sizes_.size(), rows_max_);
  for (const std::size_t size : sizes_) activations_.emplace_back(rows_max_ * size);
  for (std::size_t i = 1; i < sizes_.size(); ++i) gradients_.emplace_back(rows_max_ * sizes_[i]);
}

std::span<const float> DenseNetwork::Forward(Values at, std::size_t rows) {
  LW_CHECK(rows <= rows_max_ && at.size() == 2 * (sizes_.size() - 1), "{} rows, {} tables", rows, at.size());
  rows_ = rows;
  for (std::size_t layer = 0; layer + 1 < sizes_.size(); ++layer) {
    const std::size_t inputs = sizes_[layer];
    const std::size_t outputs = sizes_[layer + 1];
    const bool last = layer + 2 == sizes_.size();
    CheckSizes(at[2 * layer].size(), at[2 * layer + 1].size(), inputs, outputs);
    Multiply(MutableMatrix(activations_[layer + 1], rows, outputs),
             Matrix(activations_[layer], rows, inputs) * Matrix(at[2 * layer], outputs, inputs).transpose());
    const std::span<const float> bias = at[2 * layer + 1];
    for (std::size_t row = 0; row < rows; ++row) {
      float* out = activations_[layer + 1].data() + row * outputs;
      for (std::size_t i = 0; i < outputs; ++i) out[i] += bias[i];
      if (last) continue;
      // Written so that a NaN stays a NaN: a job that diverged must not look sound.
      for (std::size_t i = 0; i < outputs; ++i) out[i] = out[i] < 0.0F ? 0.0F : out[i];
    }
  }
  return std::span(activations_.back()).first(rows * sizes_.back());
}

void DenseNetwork::Backward(Values at, MutableValues gradient) {
  LW_CHECK(gradient.size() == at.size(), "{} tables, {} gradients", at.size(), gradient.size());
  for (std::size_t layer = sizes_.size() - 1; layer-- > 0;) {
    const std::size_t inputs = sizes_[layer];
    const std::size_t outputs = sizes_[layer + 1];
    const std::vector<float>& above = gradients_[layer + 1];
    CheckSizes(gradient[2 * layer].size(), gradient[2 * layer + 1].size(), inputs, outputs);
    Multiply(MutableMatrix(gradient[2 * layer], outputs, inputs),
             Matrix(above, rows_, outputs).transpose() * Matrix(activations_[layer], rows_, inputs));
    const std::span<float> bias = gradient[2 * layer + 1];
    std::ranges::fill(bias, 0.0F);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < outputs; ++i) bias[i] += above[row * outputs + i];
    }
    if (layer == 0) break;
    Multiply(MutableMatrix(gradients_[layer], rows_, inputs),
             Matrix(above, rows_, outputs) * Matrix(at[2 * layer], outputs, inputs));
    for (std::size_t i = 0; i < rows_ * inputs; ++i) {
      if (activations_[layer][i] <= 0.0F) gradients_[layer][i] = 0.0F;
    }
  }
}

}  // namespace leeway::problem
