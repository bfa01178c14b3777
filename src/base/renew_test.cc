#include "base/renew.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace leeway {
namespace {

TEST(RenewTest, TheOldOneIsLetGoBeforeTheNewOneIsThere) {
  const auto first = std::make_shared<int>(1);
  auto second = std::make_shared<int>(2);
  std::shared_ptr<int> slot = first;
  Renew(slot, std::move(second));
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(*slot, 2);
  Renew(slot);
  EXPECT_EQ(slot, nullptr);
}

}  // namespace
}  // namespace leeway
