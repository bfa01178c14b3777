// Behaviour that only real files and real threads can show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "real_storage_world.h"
#include "storage_calls.h"
#include "transport/file_storage.h"

namespace leeway::contract {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
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

  static unsigned ModeOf(const std::string& path) {
    struct stat about {};
    EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
    return about.st_mode & 07777U;
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

TEST_F(RealStorageTest, ASyncedFileGivesItsRoomBackWhenAnotherRemovesIt) {
  for (const char* name : {"c/shard", "c/rank"}) {
    ASSERT_TRUE(calls_.Create(world_.Path(name), "x").ok());
    ASSERT_TRUE(calls_.Append(world_.Path(name), "y").ok());
    ASSERT_TRUE(calls_.Sync(world_.Path(name)).ok());
    ASSERT_TRUE(calls_.Read(world_.Path(name)).ok());
  }
  EXPECT_EQ(OpenFiles(), 0U);
  ASSERT_TRUE(calls_.RemoveNextDoor(world_.Path("c")).ok());
  EXPECT_EQ(OpenFiles(), 0U);
}

TEST_F(RealStorageTest, AFileWhoseWriteFailedIsClosed) {
  EXPECT_FALSE(calls_.Append("/dev/full", "x").ok());
  const auto full = [] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (fs::read_symlink(entry.path(), gone) == "/dev/full") ++count;
    }
    return count;
  };
  EXPECT_EQ(full(), 0U);
}

TEST_F(RealStorageTest, NewFilesAndFoldersAreTheirOwnersAlone) {
  for (const mode_t mask : {022U, 0U}) {
    const mode_t before = umask(mask);
    const std::string folder = world_.Path("umask-" + std::to_string(mask));
    EXPECT_TRUE(calls_.Create(folder + "/c/made", "x").ok());
    EXPECT_TRUE(calls_.Append(folder + "/c/appended", "x").ok());
    EXPECT_TRUE(calls_.Lock(folder + "/locks/lock").ok());
    umask(before);
    for (const char* name : {"", "/c", "/locks"}) EXPECT_EQ(ModeOf(folder + name), 0700U) << name;
    for (const char* name : {"/c/made", "/c/appended", "/locks/lock"}) {
      EXPECT_EQ(ModeOf(folder + name), 0600U) << name;
    }
  }
}

TEST_F(RealStorageTest, AFolderThatIsThereKeepsItsMode) {
  fs::create_directory(world_.Path("open"));
  fs::permissions(world_.Path("open"), fs::perms(0755));
  ASSERT_TRUE(calls_.Create(world_.Path("open/c/file"), "x").ok());
  EXPECT_EQ(ModeOf(world_.Path("open")), 0755U);
}

// A folder "c" with a file, and outside of it a folder with a file that nobody is to touch.
class LinksTest : public RealStorageTest {
 protected:
  LinksTest() {
    EXPECT_TRUE(calls_.Create(outside_ + "/file", "theirs").ok());
    EXPECT_TRUE(calls_.Create(world_.Path("c/own"), "own").ok());
  }
  ~LinksTest() override {
    EXPECT_EQ(calls_.Content(outside_ + "/file"), "theirs");
    EXPECT_EQ(calls_.List(outside_)->size(), 1U);
  }
  void ExpectRefused(const Status& got, const std::string& link) {
    EXPECT_EQ(got.code(), StatusCode::kFailedPrecondition) << got.ToString();
    EXPECT_THAT(got.message(), HasSubstr("\"" + link + "\" is a symbolic link"));
  }

  const std::string outside_ = world_.Path("outside");
};

TEST_F(LinksTest, ALinkInPlaceOfAFileIsRefusedByName) {
  const std::string link = world_.Path("c/link");
  fs::create_symlink(outside_ + "/file", link);
  ExpectRefused(calls_.Create(link, "x"), link);
  ExpectRefused(calls_.Append(link, "x"), link);
  ExpectRefused(calls_.Sync(link), link);
  ExpectRefused(calls_.Read(link).status(), link);
  ExpectRefused(calls_.Lock(link), link);
  ExpectRefused(calls_.CheckUnlocked(link), link);
  fs::remove(link);
  fs::create_symlink(outside_ + "/missing", link);
  ExpectRefused(calls_.Create(link, "x"), link);
  ExpectRefused(calls_.Append(link, "x"), link);
  ExpectRefused(calls_.Lock(link), link);
}

TEST_F(LinksTest, ALinkInPlaceOfTheFolderIsRefusedByName) {
  const std::string link = world_.Path("link");
  fs::create_symlink(outside_, link);
  const std::string file = link + "/file";
  ExpectRefused(calls_.Create(link + "/new", "x"), link);
  ExpectRefused(calls_.Append(file, "x"), link);
  ExpectRefused(calls_.Sync(file), link);
  ExpectRefused(calls_.Read(file).status(), link);
  ExpectRefused(calls_.Lock(link + "/lock"), link);
  ExpectRefused(calls_.Remove(file), link);
  ExpectRefused(calls_.Rename(file, world_.Path("c/taken")), link);
  ExpectRefused(calls_.Rename(world_.Path("c/own"), link + "/given"), link);
  ExpectRefused(calls_.List(link).status(), link);
  ExpectRefused(calls_.List(link + "/").status(), link);
  ExpectRefused(calls_.SyncFolder(link), link);
}

TEST_F(LinksTest, WhatIsRemovedIsTheLinkNotWhatItLeadsTo) {
  fs::create_directory_symlink(outside_, world_.Path("c/folder"));
  fs::create_symlink(outside_ + "/file", world_.Path("c/file"));
  const auto listed = calls_.List(world_.Path("c"));
  ASSERT_TRUE(listed.ok());
  for (const Storage::Entry& entry : *listed) EXPECT_FALSE(entry.folder) << entry.name;
  EXPECT_TRUE(calls_.Remove(world_.Path("c")).ok());
  EXPECT_FALSE(fs::exists(world_.Path("c")));
}

TEST_F(LinksTest, LinksFurtherUpArePartOfTheWay) {
  fs::create_directory_symlink(world_.Path("c"), world_.Path("way"));
  EXPECT_TRUE(calls_.Create(world_.Path("way/checkpoint/file"), "x").ok());
  EXPECT_EQ(calls_.Content(world_.Path("c/checkpoint/file")), "x");
}

TEST_F(RealStorageTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(world_.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(calls_.Read(world_.Path("pipe")).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(RealStorageTest, ALockSaysWhoHasIt) {
  const std::string path = world_.Path("lock");
  ASSERT_TRUE(
      calls_.Append(path, "pid 1 on host \"a much longer name than any that this machine has\"").ok());
  ASSERT_TRUE(calls_.Lock(path).ok());
  const std::string who = "pid " + std::to_string(getpid()) + " on host \"";
  EXPECT_THAT(calls_.LockNextDoor(path).message(), AllOf(HasSubstr(path), HasSubstr(who)));
  EXPECT_THAT(calls_.CheckUnlockedNextDoor(path).message(), HasSubstr(who));
  std::string written = calls_.Content(path);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1) << written;
  EXPECT_EQ(written.back(), '\n');
}

TEST_F(RealStorageTest, ALockHasManyPathsAndOneOwner) {
  ASSERT_TRUE(calls_.Lock(world_.Path("folder/lock")).ok());
  EXPECT_TRUE(calls_.Lock(world_.Path("./folder/lock")).ok());
  EXPECT_TRUE(calls_.CheckUnlocked(world_.Path("folder/../folder/lock")).ok());
}

TEST_F(RealStorageTest, NoFileStaysOpenAfterTheEnv) {
  ASSERT_TRUE(calls_.Append(world_.Path("log"), "x").ok());
  EXPECT_EQ(OpenFiles(), 1U);
  world_.Restart();
  EXPECT_EQ(OpenFiles(), 0U);
}

}  // namespace
}  // namespace leeway::contract
