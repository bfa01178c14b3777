#include "monitor/figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leeway {
namespace {

TEST(FiguresTest, AddsUpUnderAPrefix) {
  Figures a, b, sum;
  a.Set("pushes", 3);
  b.Set("pushes", 4);
  b.Set("wait_s", 0.5);
  sum.AddAll(a, "worker.");
  sum.AddAll(b, "worker.");
  EXPECT_EQ(sum.Get("worker.pushes"), 7);
  EXPECT_EQ(sum.Get("worker.wait_s"), 0.5);
  EXPECT_EQ(sum.Get("pushes"), 0);
}

TEST(FiguresTest, SetReplacesAndAddAdds) {
  Figures figures;
  figures.Set("x", 1);
  figures.Set("x", 2);
  figures.Add("x", 0.5);
  EXPECT_EQ(figures.Get("x"), 2.5);
}

TEST(FiguresTest, NamesAreBoundedInLengthAndNumber) {
  Figures figures;
  EXPECT_FALSE(figures.Set("", 1));
  EXPECT_FALSE(figures.Set(std::string(Figures::kNameBytesMax + 1, 'x'), 1));
  for (std::size_t i = 0; i < Figures::kNamesMax; ++i) EXPECT_TRUE(figures.Set("n" + std::to_string(i), 1));
  EXPECT_FALSE(figures.Set("one more", 1));
  EXPECT_TRUE(figures.Set("n0", 2));
  EXPECT_EQ(figures.all().size(), Figures::kNamesMax);
}

TEST(FiguresTest, WholeNumbersPrintWithoutAFraction) {
  Figures figures;
  figures.Set("pushes", 12);
  figures.Set("wait_s", 0.25);
  EXPECT_EQ(nlohmann::json(figures).dump(), R"({"pushes":12,"wait_s":0.25})");
}

}  // namespace
}  // namespace leeway
