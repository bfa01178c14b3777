#include "sim/flow/inline_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace leeway::sim {
namespace {

using Numbers = std::vector<std::shared_ptr<int>>;

TEST(InlineListTest, HoldsWhatItWasGivenLastHoweverMany) {
  InlineList<int, 2> list;
  EXPECT_TRUE(list.all().empty());
  for (const std::size_t n : {1, 2, 3, 9, 2, 0, 5}) {
    std::vector<int> numbers(n);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(10 * n + i);
    list.Assign(numbers);
    EXPECT_EQ(list.size(), n);
    EXPECT_EQ(std::vector<int>(list.all().begin(), list.all().end()), numbers);
  }
}

TEST(InlineListTest, LetsGoOfWhatItHeld) {
  for (const std::size_t n : {1, 2, 3}) {
    const auto held = std::make_shared<int>(1);
    InlineList<std::shared_ptr<int>, 2> list;
    list.Assign(Numbers(n, held));
    EXPECT_EQ(held.use_count(), static_cast<long>(1 + n));
    list.Clear();
    EXPECT_EQ(held.use_count(), 1) << n;
    list.Assign(Numbers(n, held));
    list.Assign({});
    EXPECT_EQ(held.use_count(), 1) << n;
  }
}

}  // namespace
}  // namespace leeway::sim
