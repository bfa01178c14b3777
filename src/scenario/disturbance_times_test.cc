#include "scenario/disturbance_times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leeway::scenario {
namespace {

using ::testing::ElementsAre;

double SecondsOfTime(Duration d) { return std::chrono::duration<double>(d).count(); }

// Lists the beginnings and ends until `until_s`: "+worker.1@3" begins, "-worker.1@5" ends.
std::vector<std::string> Happens(const Scenario& scenario, double until_s, std::uint64_t seed = 1) {
  sim::EventQueue queue;
  std::vector<std::string> happened;
  const auto note = [&](const char* sign) {
    return [&queue, &happened, sign](const Disturbance&, const Member& member) {
      happened.push_back(fmt::format("{}{}.{}@{}", sign, member.is_server ? "server" : "worker", member.index,
                                     SecondsOfTime(queue.now())));
    };
  };
  DisturbanceTimes times(queue, scenario, *DisturbancesOf(scenario), seed, note("+"), note("-"));
  times.Start();
  while (SecondsOfTime(queue.next()) <= until_s) (void)queue.RunOne();
  return happened;
}

Scenario Three() {
  Scenario scenario;
  scenario.job.workers = 2;
  return scenario;
}

TEST(DisturbanceTimesTest, GivenTimesAreKept) {
  Scenario scenario = Three();
  scenario.changes = {"at=3 for=2 link=worker.1 slower=2", "at=0 work=server.0 slower=2",
                      "at=4 link=workers slower=3"};
  EXPECT_THAT(Happens(scenario, 100),
              ElementsAre("+server.0@0", "+worker.1@3", "+worker.0@4", "+worker.1@4", "-worker.1@5"));
}

TEST(DisturbanceTimesTest, RandomTimesComeFromTheSeedAndHaveTheirMeans) {
  Scenario scenario = Three();
  scenario.changes = {"every=9 for=1 link=workers slower=2"};
  const std::vector<std::string> happened = Happens(scenario, 10'000);
  EXPECT_EQ(happened, Happens(scenario, 10'000));
  EXPECT_NE(happened, Happens(scenario, 10'000, 2));
  // Two workers, each with a beginning and an end every 10 s on average.
  EXPECT_NEAR(static_cast<double>(happened.size()), 4000, 250);
  // Others beside it change nothing.
  scenario.changes.push_back("every=20 for=1 link=server.0 slower=2");
  std::vector<std::string> beside = Happens(scenario, 10'000);
  std::erase_if(beside, [](const std::string& text) { return text.find("server") != std::string::npos; });
  EXPECT_EQ(happened, beside);
}

TEST(DisturbanceTimesTest, ARandomOneWithoutAnEndComesOnce) {
  Scenario scenario = Three();
  scenario.faults.plan = {"every=1 kill=workers"};
  EXPECT_EQ(Happens(scenario, 10'000).size(), 2U);
}

}  // namespace
}  // namespace leeway::scenario
