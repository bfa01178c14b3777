#include "node/worker/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "exchange/exchanges.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExchangeTest : public ::testing::Test {
 protected:
  ExchangeTest() {
    table.idle = &idle;
    table.blocks.resize(1);
    table.blocks[0].table = &table;
    auto model = std::make_shared<BlockModel>();
    model->wants_significance = true;
    table.blocks[0].model = model;
    table.landing.AddBlock(0, 2);
  }
  void Use(const std::string& spec) { ASSERT_TRUE(exchange.TakePolicy(spec).ok()); }
  void Every(std::int64_t k) { Use(fmt::format("every:{}", k)); }
  // The values that go out in this iteration; empty: it is absent.
  std::vector<float> HandIn(std::int64_t iteration) {
    const auto out = exchange.HandIn(table, Iteration(iteration), {gradient, nullptr, {}, 1}, pool);
    return out ? std::vector<float>(out->values.begin(), out->values.end()) : std::vector<float>();
  }

  WorkerCounters counters;
  const Registry<ExchangePolicy> policies = BuiltinExchanges();
  Exchange exchange{counters, policies};
  IdleIterations idle;
  ParameterPair pair{2, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "w", .shape = {2}}, pair, pool};
  const std::vector<float> gradient{1, 2};
};

TEST_F(ExchangeTest, ByDefaultEveryGradientGoesOutAsItIs) {
  EXPECT_FALSE(exchange.AddsUp());
  const auto out = exchange.HandIn(table, Iteration(0), {gradient, nullptr, {}, 1}, pool);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->values.data(), gradient.data()) << "no copy";
  EXPECT_EQ(table.exchanged, Iteration(0));
  EXPECT_FALSE(exchange.Close(table, Iteration(1)).has_value());
  EXPECT_EQ(table.exchanged, Iteration(1));
  EXPECT_EQ(counters.exchanges_skipped, 0U);
}

TEST_F(ExchangeTest, EveryThirdIterationTakesTheSumOfThree) {
  Every(3);
  EXPECT_TRUE(exchange.AddsUp());
  EXPECT_THAT(HandIn(0), ElementsAre());
  EXPECT_THAT(HandIn(1), ElementsAre());
  EXPECT_EQ(counters.exchanges_skipped, 2U);
  EXPECT_THAT(HandIn(2), ElementsAre(3, 6));
  EXPECT_TRUE(table.sum.empty());
  EXPECT_EQ(table.exchanged, Iteration(2));
}

TEST_F(ExchangeTest, AnIterationWithoutAGradientTakesTheSumThatIsDue) {
  Every(2);
  EXPECT_THAT(HandIn(0), ElementsAre());
  const auto out = exchange.Close(table, Iteration(1));
  ASSERT_TRUE(out.has_value());
  EXPECT_THAT(std::vector<float>(out->values.begin(), out->values.end()), ElementsAre(1, 2));
}

TEST_F(ExchangeTest, ASumGoesOutBeforeACut) {
  Every(100);
  exchange.OnCut(Iteration(2));
  EXPECT_THAT(HandIn(0), ElementsAre());
  EXPECT_THAT(HandIn(1), ElementsAre(2, 4));
  EXPECT_THAT(HandIn(2), ElementsAre()) << "beyond the cut";
}

TEST_F(ExchangeTest, ANonFiniteGradientIsRefusedOnlyWhereItWouldSpoilASum) {
  const std::vector<float> nan{std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_TRUE(exchange.Check(table, Iteration(4), nan).ok()) << "the server says so";
  Every(2);
  EXPECT_THAT(exchange.Check(table, Iteration(4), nan).message(),
              HasSubstr("table \"w\": the gradient of iteration 4 was refused"));
  EXPECT_TRUE(exchange.Check(table, Iteration(4), gradient).ok());
}

TEST_F(ExchangeTest, OnlyAGradientThatIsLargeEnoughGoesOut) {
  Use("significant:0.5");
  std::ranges::fill(pair.Back(), 100.0F);
  pair.Publish(Iteration(0));
  ASSERT_TRUE(pair.Take());
  EXPECT_THAT(HandIn(0), ElementsAre());
  EXPECT_TRUE(exchange.Close(table, Iteration(1)).has_value() == false) << "the sum is small still";
  std::ranges::fill(pair.Back(), 0.1F);
  pair.Publish(Iteration(1));
  ASSERT_TRUE(pair.Take());
  EXPECT_THAT(HandIn(2), ElementsAre(2, 4));
  EXPECT_EQ(table.significance, 1.0F);
}

}  // namespace
}  // namespace leeway
