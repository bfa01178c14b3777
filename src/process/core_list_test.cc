#include "process/core_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "leeway/storage.h"
#include "process/console_log.h"
#include "process/node_thread.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<int> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(CoreListTest, EachShardHasACoreOfTheList) {
  EXPECT_THAT(*CoresOf("5", 0, 1, kEight), ElementsAre(5));
  EXPECT_THAT(*CoresOf("0-2,6", 0, 4, kEight), ElementsAre(0, 1, 2, 6));
  EXPECT_THAT(*CoresOf("3,1", 0, 3, kEight), ElementsAre(3, 1, 3)) << "in turn when there are too few";
  EXPECT_THAT(*CoresOf("3,1", 1, 1, kEight), ElementsAre(1)) << "the next server has the next core";
  EXPECT_THAT(*CoresOf("none", 0, 4, kEight), IsEmpty());
}

TEST(CoreListTest, ByItselfOnlyWhereCoresAreSpare) {
  EXPECT_THAT(*CoresOf("auto", 0, 2, kEight), ElementsAre(0, 1));
  EXPECT_THAT(*CoresOf("auto", 0, 3, kEight), IsEmpty());
  EXPECT_THAT(*CoresOf("auto", 1, 1, kEight), ElementsAre(1)) << "another server has core 0";
  EXPECT_THAT(*CoresOf("auto", 0, 1, std::vector<int>{4, 5}), IsEmpty());
}

TEST(CoreListTest, WhatIsNoListSaysWhatIsWanted) {
  for (const char* bad : {"", "x", "1,", "-1", "2-", "0x1", "1,,2", "999999", "1 2"}) {
    const auto cores = CoresOf(bad, 0, 1, kEight);
    ASSERT_FALSE(cores.ok()) << bad;
    EXPECT_THAT(cores.status().message(), HasSubstr("0-3,6")) << bad;
  }
  EXPECT_THAT(CoresOf("3-1", 0, 1, kEight).status().message(), HasSubstr("goes down"));
  EXPECT_THAT(CoresOf("9", 0, 1, kEight).status().message(),
              HasSubstr("may not run on core 9, wanted some of 0, 1, 2"));
}

TEST(CoreListTest, AThreadStaysWhereItIsPut) {
  const std::vector<int> before = AllowedCores();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    EXPECT_TRUE(StayOn(before.back()).ok());
    EXPECT_THAT(AllowedCores(), ElementsAre(before.back()));
  }).join();
  EXPECT_EQ(AllowedCores(), before) << "no other thread is moved";
}

TEST(CoreListTest, JobsOfANodeThatStaysOnACoreRunOnAll) {
  const std::vector<int> before = AllowedCores();
  if (before.size() < 2) GTEST_SKIP() << "one core";
  ConsoleLog log("test", LogLevel::kError);
  NodeThread node(log);
  std::vector<int> of_job;
  std::promise<void> done;
  ASSERT_TRUE(node.Call([&] {
    EXPECT_TRUE(StayOn(before.front()).ok());
    node.env().compute.Run([&] { of_job = AllowedCores(); }, [&] { done.set_value(); });
  }));
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(of_job, before);
}

}  // namespace
}  // namespace leeway
