#include "scenario/figures.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace leeway::scenario {
namespace {

double Of(const std::string& figure, const RunRecord& record) { return FigureNamed(figure).of(record); }

TEST(FiguresTest, ServersAreComparedByTheirTraffic) {
  RunRecord record;
  record.servers = {{.bytes_in = 10, .bytes_out = 20, .queued_mean_s = 0.002, .queued_max_s = 0.5},
                    {.bytes_in = 50, .bytes_out = 10, .queued_mean_s = 0.001, .queued_max_s = 0.25}};
  EXPECT_DOUBLE_EQ(Of("heaviest", record), 60.0 / 45);
  EXPECT_DOUBLE_EQ(Of("queued_ms", record), (30 * 2.0 + 60 * 1.0) / 90);
  EXPECT_DOUBLE_EQ(Of("queued_max_ms", record), 500);
}

TEST(FiguresTest, TheBusiestPartNeedNotBeOfOneServer) {
  RunRecord record;
  record.servers = {{.link_in_busy = 0.1, .link_out_busy = 0.7, .processor_busy = 0.2},
                    {.link_in_busy = 0.6, .link_out_busy = 0.3, .processor_busy = 0.4}};
  EXPECT_DOUBLE_EQ(Of("busiest_link", record), 0.7);
  EXPECT_DOUBLE_EQ(Of("busiest_processor", record), 0.4);
}

TEST(FiguresTest, TheSlowestServerIsTheOneThatTakesLongestForAMessage) {
  RunRecord record;
  record.server_message_s = {0.001, 0.004, 0.002};
  EXPECT_DOUBLE_EQ(Of("slowest_server_ms", record), 4);
}

TEST(FiguresTest, ARunWithoutServersHasNumbersToo) {
  const RunRecord record;
  EXPECT_EQ(Of("heaviest", record), 1);
  for (const char* figure :
       {"queued_ms", "queued_max_ms", "busiest_link", "busiest_processor", "slowest_server_ms"})
    EXPECT_EQ(Of(figure, record), 0) << figure;
}

TEST(FiguresTest, EveryFigureSaysWhatItIs) {
  std::vector<std::string> names;
  for (const Figure& figure : AllFigures()) {
    EXPECT_FALSE(figure.title.empty()) << figure.name;
    EXPECT_FALSE(figure.meaning.empty()) << figure.name;
    names.push_back(figure.name);
  }
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace leeway::scenario
