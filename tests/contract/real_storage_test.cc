// What only real files and real threads can show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "real_storage_world.h"
#include "storage_calls.h"
#include "transport/file_storage.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

class RealStorageTest : public ::testing::Test {
 protected:
  // Descriptors of this process that are open below the world's folder.
  std::size_t OpenFiles() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (!gone && target.starts_with(world_.Path(""))) ++count;
    }
    return count;
  }

  RealStorageWorld world_;
  StorageCalls calls_{world_};
};

TEST_F(RealStorageTest, JobsRunOffTheLoopsThread) {
  std::thread::id job_on;
  bool ended = false;
  world_.env().compute.Run([&] { job_on = std::this_thread::get_id(); }, [&] { ended = true; });
  ASSERT_TRUE(world_.RunUntil([&] { return ended; }));
  EXPECT_NE(job_on, std::thread::id());
  EXPECT_NE(job_on, std::this_thread::get_id());
}

TEST_F(RealStorageTest, TheLoopGoesOnWhileAJobRuns) {
  std::atomic<bool> released = false;
  bool ended = false;
  world_.env().compute.Run(
      [&] {
        while (!released) std::this_thread::yield();
      },
      [&] { ended = true; });
  // Its own timer releases the job: a loop that waited for it would stand for ever.
  static_cast<void>(world_.env().timers.After(Duration::zero(), [&] { released = true; }));
  EXPECT_TRUE(world_.RunUntil([&] { return ended; }));
}

TEST_F(RealStorageTest, TheEndWaitsForTheJobUnderWayAndDropsTheRest) {
  std::atomic<bool> started = false;
  std::atomic<bool> ending = false;
  std::atomic<bool> finished = false;
  std::atomic<int> others = 0;
  world_.env().compute.Run(
      [&] {
        started = true;
        while (!ending) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        finished = true;
      },
      [] {});
  // So many that the end comes long before the last of them.
  for (int i = 0; i < 5000; ++i) {
    world_.env().compute.Run(
        [&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++others;
        },
        [] {});
  }
  while (!started) std::this_thread::yield();
  ending = true;
  world_.Restart();
  EXPECT_TRUE(finished);
  EXPECT_LT(others, 5000);
}

TEST_F(RealStorageTest, AFullDeviceIsNamed) {
  const Status got = calls_.Append("/dev/full", "x");
  EXPECT_EQ(got.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(got.message(), HasSubstr("\"/dev/full\": No space left"));
}

TEST_F(RealStorageTest, WhatIsNotPermittedIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "everything is permitted to root";
  ASSERT_TRUE(calls_.Append(world_.Path("locked/file"), "x").ok());
  std::filesystem::permissions(world_.Path("locked"), std::filesystem::perms::none);
  const Status got = calls_.Append(world_.Path("locked/other"), "x");
  std::filesystem::permissions(world_.Path("locked"), std::filesystem::perms::owner_all);
  EXPECT_EQ(got.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(got.message(), HasSubstr("Permission denied"));
}

TEST_F(RealStorageTest, FewFilesStayOpenHoweverManyAreWritten) {
  const std::size_t files = 3 * FileStorage::kOpenFilesMax;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < files; ++i) {
      ASSERT_TRUE(calls_.Append(world_.Path("f" + std::to_string(i)), "x").ok());
    }
  }
  EXPECT_EQ(OpenFiles(), FileStorage::kOpenFilesMax);
  for (std::size_t i = 0; i < files; ++i)
    EXPECT_EQ(calls_.Content(world_.Path("f" + std::to_string(i))), "xx");
  ASSERT_TRUE(calls_.Remove(world_.Path("f0")).ok());
  EXPECT_EQ(OpenFiles(), 0U);
}

TEST_F(RealStorageTest, NoFileStaysOpenAfterTheEnv) {
  ASSERT_TRUE(calls_.Append(world_.Path("log"), "x").ok());
  EXPECT_EQ(OpenFiles(), 1U);
  world_.Restart();
  EXPECT_EQ(OpenFiles(), 0U);
}

}  // namespace
}  // namespace leeway::contract
