#include "problem/cut_tables.h"

#include <gtest/gtest.h>

#include "problem/compute_shares.h"

namespace leeway::problem {
namespace {

TEST(CutTablesTest, PartsHaveTheElementsAndTheLastHasTheWork) {
  const std::vector<Table> model = {{"conv.weight", {2, 5}, 100}, {"conv.bias", {3}, 0}};
  const std::vector<Table> cut = CutTables(model, 4);
  ASSERT_EQ(cut.size(), 7U);
  std::uint64_t elements = 0;
  for (const Table& table : cut) elements += table.elements();
  EXPECT_EQ(elements, 13U);
  EXPECT_EQ(cut[0].name, "conv.weight.0");
  EXPECT_EQ(cut[0].shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(cut[1].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(cut[2].multiply_adds, 0U);
  EXPECT_EQ(cut[3].multiply_adds, 100U);
  EXPECT_EQ(cut[6].name, "conv.bias.2");
  EXPECT_DOUBLE_EQ(ComputeSharesOf(cut).forward[3], kForwardShare);
}

TEST(CutTablesTest, OnePartIsTheModel) {
  const std::vector<Table> model = {{"conv.weight", {2, 5}, 100}};
  EXPECT_EQ(CutTables(model, 1)[0].name, "conv.weight");
  EXPECT_EQ(CutTables(model, 1)[0].shape, model[0].shape);
}

}  // namespace
}  // namespace leeway::problem
