#include "base/registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace leeway {
namespace {

struct Fruit {
  std::string name;
  std::int64_t seeds = 0;
};

Registry<Fruit> FruitRegistry() {
  Registry<Fruit> registry("fruit");
  registry.Add("apple", [](const PolicyConfig& config) -> Result<std::unique_ptr<Fruit>> {
    LW_ASSIGN_OR_RETURN(const std::int64_t seeds, config.IntInRange("seeds", 0, 10, 5));
    return std::make_unique<Fruit>(Fruit{config.name(), seeds});
  });
  registry.Add("banana", [](const PolicyConfig& config) -> Result<std::unique_ptr<Fruit>> {
    return std::make_unique<Fruit>(Fruit{config.name(), 0});
  });
  return registry;
}

TEST(RegistryTest, MakesThePolicyThatASpecNames) {
  const Registry<Fruit> registry = FruitRegistry();
  const Result<std::unique_ptr<Fruit>> apple = registry.MakeFromSpec("apple:7");
  ASSERT_TRUE(apple.ok()) << apple.status().ToString();
  EXPECT_EQ((*apple)->name, "apple");
  EXPECT_EQ((*apple)->seeds, 7);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"apple", "banana"}));
}

TEST(RegistryTest, ErrorsTeach) {
  const Registry<Fruit> registry = FruitRegistry();
  EXPECT_EQ(registry.MakeFromSpec("aple").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.MakeFromSpec("aple").status().message(),
            "unknown fruit \"aple\"; known: apple, banana (did you mean \"apple\"?)");
  EXPECT_EQ(registry.MakeFromSpec("apple+banana").status().message(),
            "fruit \"apple+banana\": got 2 terms, wanted one");
  EXPECT_EQ(registry.MakeFromSpec("apple:11").status().message(),
            "fruit \"apple\": seeds: got \"11\", wanted a whole number from 0 to 10");
  EXPECT_EQ(registry.MakeFromSpec("banana:ripe=yes").status().message(),
            "fruit \"banana\": unknown argument \"ripe\"; known: none");
  EXPECT_FALSE(registry.MakeFromSpec("apple:").ok());
}

TEST(RegistryTest, ALaterRowReplacesTheEarlier) {
  Registry<Fruit> registry = FruitRegistry();
  registry.Add("apple", [](const PolicyConfig&) -> Result<std::unique_ptr<Fruit>> {
    return std::make_unique<Fruit>(Fruit{"my apple", 1});
  });
  EXPECT_EQ((*registry.MakeFromSpec("apple"))->name, "my apple");
  EXPECT_EQ(registry.names().size(), 2U);
}

}  // namespace
}  // namespace leeway
