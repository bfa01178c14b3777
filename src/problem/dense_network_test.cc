#include "problem/dense_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/hash.h"

namespace leeway::problem {
namespace {

// Layers of any sizes with values, an input and an output gradient drawn by hash; `offset` floats before
// each.
struct DrawnNetwork {
  DrawnNetwork(const std::vector<std::size_t>& sizes, std::size_t rows, std::size_t offset)
      : network(sizes, rows) {
    for (std::size_t layer = 0; layer + 1 < sizes.size(); ++layer) {
      for (const std::size_t size : {sizes[layer] * sizes[layer + 1], sizes[layer + 1]}) {
        values_memory.emplace_back(offset + size);
        gradient_memory.emplace_back(offset + size);
      }
    }
    for (std::size_t t = 0; t < values_memory.size(); ++t) {
      const std::span<float> table = std::span(values_memory[t]).subspan(offset);
      Draw(t + 1, table);
      values.emplace_back(table);
      gradient.push_back(std::span(gradient_memory[t]).subspan(offset));
    }
    Draw(100, network.input());
    const std::span<const float> out = network.Forward(values, rows);
    output.assign(out.begin(), out.end());
    Draw(200, network.output_gradient());
    network.Backward(values, gradient);
  }

  static void Draw(std::uint64_t what, std::span<float> into) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = static_cast<float>(2 * UnitInterval(Hash64({what, i})) - 1);
    }
  }

  DenseNetwork network;
  std::vector<std::vector<float>> values_memory, gradient_memory;
  std::vector<std::span<const float>> values;
  std::vector<std::span<float>> gradient;
  std::vector<float> output;
};

// One layer by plain loops in double.
TEST(DenseNetworkTest, OneLayerIsAProductAndASum) {
  constexpr std::size_t kRows = 5, kInputs = 33, kOutputs = 7;
  DrawnNetwork drawn({kInputs, kOutputs}, kRows, 0);
  const std::span<const float> x = drawn.network.input();
  const std::span<const float> above = drawn.network.output_gradient();
  for (std::size_t o = 0; o < kOutputs; ++o) {
    double bias = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      double sum = drawn.values[1][o];
      for (std::size_t i = 0; i < kInputs; ++i)
        sum += double{drawn.values[0][o * kInputs + i]} * x[r * kInputs + i];
      EXPECT_NEAR(drawn.output[r * kOutputs + o], sum, 1e-5);
      bias += above[r * kOutputs + o];
    }
    EXPECT_NEAR(drawn.gradient[1][o], bias, 1e-6);
    for (std::size_t i = 0; i < kInputs; ++i) {
      double sum = 0;
      for (std::size_t r = 0; r < kRows; ++r) sum += double{above[r * kOutputs + o]} * x[r * kInputs + i];
      EXPECT_NEAR(drawn.gradient[0][o * kInputs + i], sum, 1e-5);
    }
  }
}

// The shapes that BLAS, and Eigen before it, treat each in their own way: one row, one column, small, odd,
// large.
TEST(DenseNetworkTest, AddressesDoNotChangeABit) {
  const std::vector<std::vector<std::size_t>> shapes = {
      {784, 64, 10},  {784, 10},      {784, 1, 10}, {784, 7, 10}, {3, 2, 2},       {1, 1, 1},
      {784, 300, 10}, {33, 17, 9, 5}, {784, 2, 10}, {5, 1, 10},   {16, 16, 16, 16}};
  for (const std::vector<std::size_t>& sizes : shapes) {
    for (const std::size_t rows : {1, 2, 3, 8, 31, 32, 128}) {
      const DrawnNetwork aligned(sizes, rows, 0);
      for (const std::size_t offset : {1, 2, 3, 5, 8}) {
        const DrawnNetwork moved(sizes, rows, offset);
        EXPECT_EQ(moved.output, aligned.output);
        for (std::size_t t = 0; t < aligned.gradient.size(); ++t) {
          EXPECT_EQ(std::memcmp(moved.gradient[t].data(), aligned.gradient[t].data(),
                                aligned.gradient[t].size_bytes()),
                    0)
              << "table " << t << " of " << sizes.size() - 1 << " layers, " << sizes[1]
              << " outputs of the first, " << rows << " rows, offset " << offset;
        }
      }
    }
  }
}

TEST(DenseNetworkTest, FewerRowsThanThereIsRoomForAreTheFirstOnes) {
  DrawnNetwork drawn({40, 20, 10}, 8, 0);
  const std::vector<float> all = drawn.output;
  const std::span<const float> three = drawn.network.Forward(drawn.values, 3);
  ASSERT_EQ(three.size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(three[i], all[i], 1e-5);
}

TEST(DenseNetworkTest, ANumberThatIsNoneGoesThroughToTheOutput) {
  DrawnNetwork drawn({40, 20, 10}, 2, 0);
  drawn.values_memory[1][4] = std::numeric_limits<float>::quiet_NaN();
  for (const float out : drawn.network.Forward(drawn.values, 2)) EXPECT_TRUE(std::isnan(out));
}

}  // namespace
}  // namespace leeway::problem
