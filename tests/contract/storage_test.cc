// The contract of every Storage and Compute, run on each of them (storage_worlds.def).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "storage_calls.h"
#include "storage_world.h"

namespace leeway::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct WorldRow {
  const char* name;
  std::unique_ptr<StorageWorld> (*make)();
};

constexpr WorldRow kWorlds[] = {
#define LW_STORAGE_WORLD(name, make) {#name, &make},
#include "storage_worlds.def"
#undef LW_STORAGE_WORLD
};

class StorageContract : public ::testing::TestWithParam<WorldRow> {
 protected:
  std::string Path(const std::string& name) { return world_->Path(name); }
  Storage& storage() { return world_->env().storage; }
  Compute& compute() { return world_->env().compute; }

  std::unique_ptr<StorageWorld> world_ = GetParam().make();
  StorageCalls calls_{*world_};
};

#define EXPECT_OK(call)                            \
  do {                                             \
    const Status lw_got = (call);                  \
    EXPECT_TRUE(lw_got.ok()) << lw_got.ToString(); \
  } while (false)

// The error has this code and says which path and why.
void ExpectError(const Status& got, StatusCode code, const std::string& path, const std::string& cause) {
  EXPECT_EQ(got.code(), code) << got.ToString();
  EXPECT_THAT(got.message(), HasSubstr("\"" + path + "\""));
  EXPECT_THAT(got.message(), HasSubstr(cause));
}

TEST_P(StorageContract, AppendsAddUpAndAreRead) {
  EXPECT_OK(calls_.Append(Path("log"), "one "));
  EXPECT_OK(calls_.Append(Path("log"), "two "));
  EXPECT_OK(calls_.Sync(Path("log")));
  EXPECT_OK(calls_.Append(Path("log"), "three"));
  EXPECT_EQ(calls_.Content(Path("log")), "one two three");
}

TEST_P(StorageContract, ALockedFileIsItsEnvsUntilThatEnds) {
  const std::string path = Path("folder/lock");
  EXPECT_OK(calls_.Lock(path));
  EXPECT_OK(calls_.Lock(path));  // again
  ExpectError(calls_.LockNextDoor(path), StatusCode::kFailedPrecondition, path, "another process has it");
  EXPECT_OK(calls_.LockNextDoor(Path("folder/other")));
  EXPECT_OK(calls_.Append(Path("folder/x"), "x"));  // a rename closes files that are open, but not this
  EXPECT_OK(calls_.Rename(Path("folder/x"), Path("folder/y")));
  EXPECT_FALSE(calls_.LockNextDoor(path).ok());
  world_->Restart();
  EXPECT_OK(calls_.LockNextDoor(path));
  EXPECT_FALSE(calls_.Lock(path).ok());
}

TEST_P(StorageContract, WhoeverAsksHearsWhetherAnotherHasTheLock) {
  const std::string path = Path("folder/lock");
  EXPECT_OK(calls_.CheckUnlocked(path));
  EXPECT_THAT(*calls_.List(Path("")), IsEmpty()) << "a question made something";
  EXPECT_OK(calls_.Lock(path));
  EXPECT_OK(calls_.CheckUnlocked(path));  // its own
  ExpectError(calls_.CheckUnlockedNextDoor(path), StatusCode::kFailedPrecondition, path,
              "another process has it");
  EXPECT_OK(calls_.CheckUnlockedNextDoor(Path("folder/other")));
  world_->Restart();
  EXPECT_OK(calls_.CheckUnlockedNextDoor(path));
  EXPECT_OK(calls_.Lock(path));  // the question took nothing
}

TEST_P(StorageContract, AFileIsCreatedOnlyWhereThereIsNone) {
  EXPECT_OK(calls_.Create(Path("a/b/file"), "one "));
  EXPECT_OK(calls_.Append(Path("a/b/file"), "two"));
  ExpectError(calls_.Create(Path("a/b/file"), "other"), StatusCode::kFailedPrecondition, Path("a/b/file"),
              "File exists");
  ExpectError(calls_.Create(Path("a/b"), "other"), StatusCode::kFailedPrecondition, Path("a/b"),
              "File exists");
  EXPECT_EQ(calls_.Content(Path("a/b/file")), "one two");
  EXPECT_OK(calls_.Sync(Path("a/b/file")));
  EXPECT_FALSE(calls_.Create(Path("a/b/file"), "other").ok());
  EXPECT_OK(calls_.Remove(Path("a/b/file")));
  EXPECT_OK(calls_.Create(Path("a/b/file"), "new"));
  EXPECT_EQ(calls_.Content(Path("a/b/file")), "new");
}

TEST_P(StorageContract, AFileThatAnotherRemovedCanBeCreatedAgain) {
  EXPECT_OK(calls_.Create(Path("file"), "old"));  // not synced: it may be open
  EXPECT_OK(calls_.RemoveNextDoor(Path("file")));
  EXPECT_OK(calls_.Create(Path("file"), "new"));
  EXPECT_EQ(calls_.Content(Path("file")), "new");
}

TEST_P(StorageContract, AnAppendOfManyPiecesIsWrittenInTheirOrder) {
  std::vector<Pinned> pieces;
  std::string wanted;
  for (int i = 0; i < 3000; ++i) {  // more than one writev takes
    const Text text = Lend(i % 7 == 0 ? "" : std::to_string(i) + ",");
    pieces.push_back(PinnedText(text));
    wanted += *text;
  }
  bool done = false;
  storage().Append(Path("log"), pieces, [&](const Status& got) { done = got.ok(); });
  ASSERT_TRUE(world_->RunUntil([&] { return done; }));
  EXPECT_EQ(calls_.Content(Path("log")), wanted);
}

TEST_P(StorageContract, LargeAppendsAreWrittenInFull) {
  std::string text(20 << 20, 'x');
  for (std::size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>('a' + i / 4096 % 26);
  EXPECT_OK(calls_.Append(Path("large"), text));
  EXPECT_TRUE(calls_.Content(Path("large")) == text);
}

TEST_P(StorageContract, AReadEndsWhereTheFileDoes) {
  EXPECT_OK(calls_.Append(Path("log"), "0123456789"));
  EXPECT_EQ(*calls_.Read(Path("log"), 2, 3), "234");
  EXPECT_EQ(*calls_.Read(Path("log"), 8, 5), "89");
  EXPECT_EQ(*calls_.Read(Path("log"), 10, 5), "");
  EXPECT_EQ(*calls_.Read(Path("log"), 1000, StorageCalls::kAll), "");
  EXPECT_EQ(*calls_.Read(Path("log"), 3, 0), "");
}

TEST_P(StorageContract, AnEmptyAppendMakesAnEmptyFile) {
  EXPECT_OK(calls_.Append(Path("empty"), ""));
  EXPECT_EQ(calls_.Content(Path("empty")), "");
  EXPECT_THAT(*calls_.List(Path("")), ElementsAre(Storage::Entry{"empty", 0, false}));
  EXPECT_OK(calls_.Sync(Path("empty")));
}

TEST_P(StorageContract, AnAppendMakesTheFoldersOfItsFile) {
  EXPECT_OK(calls_.Append(Path("a/b/c/file"), "deep"));
  EXPECT_EQ(calls_.Content(Path("a/b/c/file")), "deep");
  EXPECT_OK(calls_.SyncFolder(Path("a/b/c")));
  EXPECT_OK(calls_.SyncFolder(Path("a")));
}

TEST_P(StorageContract, WhatIsNotThereIsNotFound) {
  ExpectError(calls_.Read(Path("none")).status(), StatusCode::kNotFound, Path("none"), "No such file");
  ExpectError(calls_.List(Path("none")).status(), StatusCode::kNotFound, Path("none"), "No such file");
  ExpectError(calls_.Sync(Path("none")), StatusCode::kNotFound, Path("none"), "No such file");
  ExpectError(calls_.SyncFolder(Path("none")), StatusCode::kNotFound, Path("none"), "No such file");
  ExpectError(calls_.Rename(Path("none"), Path("to")), StatusCode::kNotFound, Path("none"), "No such file");
  EXPECT_THAT(*calls_.List(Path("")), IsEmpty()) << "a call that found nothing made something";
}

TEST_P(StorageContract, FilesAndFoldersAreToldApart) {
  EXPECT_OK(calls_.Append(Path("file"), "x"));
  EXPECT_OK(calls_.Append(Path("folder/file"), "x"));
  constexpr StatusCode kWrong = StatusCode::kFailedPrecondition;
  ExpectError(calls_.Append(Path("folder"), "x"), kWrong, Path("folder"), "Is a directory");
  ExpectError(calls_.Append(Path("file/below"), "x"), kWrong, Path("file/below"), "Not a directory");
  ExpectError(calls_.Read(Path("folder")).status(), kWrong, Path("folder"), "Is a directory");
  ExpectError(calls_.Read(Path("file/below")).status(), kWrong, Path("file/below"), "Not a directory");
  ExpectError(calls_.List(Path("file")).status(), kWrong, Path("file"), "Not a directory");
  ExpectError(calls_.Sync(Path("folder")), kWrong, Path("folder"), "Is a directory");
  ExpectError(calls_.SyncFolder(Path("file")), kWrong, Path("file"), "Not a directory");
  ExpectError(calls_.Rename(Path("file"), Path("folder")), kWrong, Path("folder"), "Is a directory");
  ExpectError(calls_.Rename(Path("folder"), Path("file")), kWrong, Path("file"), "Not a directory");
}

TEST_P(StorageContract, PathsThatCannotBeAreRefused) {
  constexpr StatusCode kRefused = StatusCode::kInvalidArgument;
  const std::string zero = Path(std::string("a\0b", 3));
  const std::string lengthy = Path(std::string(300, 'n'));
  EXPECT_EQ(calls_.Append("", "x").code(), kRefused);
  EXPECT_EQ(calls_.Append(zero, "x").code(), kRefused);
  EXPECT_EQ(calls_.Rename(Path("a"), zero).code(), kRefused);
  EXPECT_EQ(calls_.Remove("").code(), kRefused);
  EXPECT_EQ(calls_.Remove("/").code(), kRefused);
  EXPECT_EQ(calls_.List(zero).status().code(), kRefused);
  ExpectError(calls_.Append(lengthy, "x"), kRefused, lengthy, "File name too long");
  ExpectError(calls_.Read(lengthy).status(), kRefused, lengthy, "File name too long");
  EXPECT_THAT(*calls_.List(Path("")), IsEmpty());
}

TEST_P(StorageContract, ARenameReplacesAndTheOldNameIsFreeAgain) {
  EXPECT_OK(calls_.Append(Path("final"), "old"));
  EXPECT_OK(calls_.Append(Path("temp"), "new"));
  EXPECT_OK(calls_.Rename(Path("temp"), Path("final")));
  EXPECT_EQ(calls_.Content(Path("final")), "new");
  EXPECT_EQ(calls_.Read(Path("temp")).status().code(), StatusCode::kNotFound);
  // Later appends go by name, not to the file that had it before.
  EXPECT_OK(calls_.Append(Path("temp"), "other"));
  EXPECT_OK(calls_.Append(Path("final"), "er"));
  EXPECT_EQ(calls_.Content(Path("final")), "newer");
  EXPECT_EQ(calls_.Content(Path("temp")), "other");
}

TEST_P(StorageContract, ARenameToItselfChangesNothing) {
  EXPECT_OK(calls_.Append(Path("file"), "x"));
  EXPECT_OK(calls_.Rename(Path("file"), Path("file")));
  EXPECT_EQ(calls_.Content(Path("file")), "x");
}

TEST_P(StorageContract, FoldersMoveWithAllThatIsInThem) {
  EXPECT_OK(calls_.Append(Path("temp/a/file"), "x"));
  EXPECT_OK(calls_.Rename(Path("temp"), Path("final")));
  EXPECT_EQ(calls_.Content(Path("final/a/file")), "x");
  EXPECT_OK(calls_.Append(Path("temp/a/file"), "y"));
  EXPECT_EQ(calls_.Content(Path("final/a/file")), "x");
  ExpectError(calls_.Rename(Path("temp"), Path("final")), StatusCode::kFailedPrecondition, Path("final"),
              "Directory not empty");
  ExpectError(calls_.Rename(Path("temp"), Path("temp/a/b")), StatusCode::kInvalidArgument, Path("temp"),
              "Invalid argument");
  ExpectError(calls_.Rename(Path("temp"), Path("none/b")), StatusCode::kNotFound, Path("none/b"), "No such");
}

TEST_P(StorageContract, ARemovedFileIsGoneAndItsNameIsFree) {
  EXPECT_OK(calls_.Append(Path("file"), "old"));
  EXPECT_OK(calls_.Remove(Path("file")));
  EXPECT_EQ(calls_.Read(Path("file")).status().code(), StatusCode::kNotFound);
  EXPECT_OK(calls_.Append(Path("file"), "new"));
  EXPECT_EQ(calls_.Content(Path("file")), "new");
}

TEST_P(StorageContract, AFolderIsRemovedWithAllThatIsInIt) {
  EXPECT_OK(calls_.Append(Path("folder/a/file"), "x"));
  EXPECT_OK(calls_.Append(Path("folder/file"), "x"));
  EXPECT_OK(calls_.Append(Path("other"), "x"));
  EXPECT_OK(calls_.Remove(Path("folder")));
  EXPECT_THAT(*calls_.List(Path("")), ElementsAre(Storage::Entry{"other", 1, false}));
}

TEST_P(StorageContract, RemovingWhatIsNotThereIsNoError) {
  EXPECT_OK(calls_.Remove(Path("none")));
  EXPECT_OK(calls_.Remove(Path("none/below")));
  EXPECT_OK(calls_.Append(Path("file"), "x"));
  EXPECT_OK(calls_.Remove(Path("file/below")));
  EXPECT_EQ(calls_.Content(Path("file")), "x");
}

TEST_P(StorageContract, AListIsSortedByName) {
  for (const char* name : {"b", "a10", "a2", "C", "d/file"}) EXPECT_OK(calls_.Append(Path(name), "123"));
  using Entry = Storage::Entry;
  EXPECT_THAT(*calls_.List(Path("")),
              ElementsAre(Entry{"C", 3, false}, Entry{"a10", 3, false}, Entry{"a2", 3, false},
                          Entry{"b", 3, false}, Entry{"d", 0, true}));
}

TEST_P(StorageContract, CallsInARowAreCarriedOutAndAnsweredInOrder) {
  std::vector<std::string> answers;
  const auto note = [&](const std::string& what) {
    return [&answers, what](const Status& got) { answers.push_back(what + (got.ok() ? "" : " failed")); };
  };
  storage().Append(Path("temp"), {PinnedText(Lend("new"))}, note("append"));
  storage().Sync(Path("temp"), note("sync"));
  storage().Rename(Path("none"), Path("temp"), note("bad rename"));  // stops nothing
  storage().Rename(Path("temp"), Path("final"), note("rename"));
  storage().SyncFolder(Path(""), note("sync folder"));
  std::string read;
  storage().Read(Path("final"), 0, 10, [&](const Result<std::vector<std::byte>>& got) {
    answers.emplace_back("read");
    if (got.ok()) read.assign(reinterpret_cast<const char*>(got->data()), got->size());
  });
  storage().Remove(Path("final"), note("remove"));
  storage().List(Path(""), [&](const Result<std::vector<Storage::Entry>>& got) {
    answers.emplace_back(got.ok() && got->empty() ? "empty" : "not empty");
  });
  EXPECT_THAT(answers, IsEmpty()) << "an answer came from inside a call";
  ASSERT_TRUE(world_->RunUntil([&] { return answers.size() == 8; }));
  EXPECT_THAT(answers, ElementsAre("append", "sync", "bad rename failed", "rename", "sync folder", "read",
                                   "remove", "empty"));
  EXPECT_EQ(read, "new");
}

TEST_P(StorageContract, AnAnswerMayAskAgain) {
  int left = 50;
  std::function<void(const Status&)> again = [&](const Status& got) {
    EXPECT_OK(got);
    if (--left > 0) storage().Append(Path("log"), {PinnedText(Lend("x"))}, again);
  };
  storage().Append(Path("log"), {PinnedText(Lend("x"))}, again);
  ASSERT_TRUE(world_->RunUntil([&] { return left == 0; }));
  EXPECT_EQ(calls_.Content(Path("log")), std::string(50, 'x'));
}

TEST_P(StorageContract, WhatWasLentIsHeldUntilTheAnswerAndFreeInIt) {
  Text text = Lend("lent");
  const std::weak_ptr<const std::string> held = text;
  const std::thread::id here = std::this_thread::get_id();
  // The pin is let go on the node's thread: what it frees belongs to the node.
  std::thread::id freed_on;
  const Text pin(text.get(),
                 [owner = text, &freed_on](const std::string*) { freed_on = std::this_thread::get_id(); });
  std::vector<Pinned> data{{std::as_bytes(std::span(*text)), pin}};
  bool done = false;
  bool free = false;
  storage().Append(Path("log"), std::move(data), [&](const Status& got) {
    EXPECT_OK(got);
    free = pin.use_count() == 1;
    done = true;
  });
  EXPECT_GT(pin.use_count(), 1) << "let go before the append was carried out";
  ASSERT_TRUE(world_->RunUntil([&] { return done; }));
  EXPECT_TRUE(free);
  EXPECT_EQ(calls_.Content(Path("log")), "lent");
  EXPECT_FALSE(held.expired());
  EXPECT_TRUE(freed_on == std::thread::id() || freed_on == here);
}

TEST_P(StorageContract, NothingIsAnsweredOnceTheEnvIsGone) {
  const auto token = std::make_shared<int>(0);  // shared: with every callback
  int answers = 0;
  for (int i = 0; i < 20; ++i) {
    storage().Append(Path("log"), {PinnedText(Lend("x"))}, [token, &answers](const Status&) { ++answers; });
    compute().Run([] {}, [token, &answers] { ++answers; });
  }
  world_->Restart();
  EXPECT_EQ(token.use_count(), 1) << "a callback outlived its Env";
  // A whole number of appends is there: the one under way was finished, the rest dropped or done before.
  const Result<std::string> left = calls_.Read(Path("log"));
  EXPECT_TRUE(left.ok() || left.status().code() == StatusCode::kNotFound);
  EXPECT_EQ(answers, 0);
}

TEST_P(StorageContract, TheNextEnvFindsTheFiles) {
  EXPECT_OK(calls_.Append(Path("log"), "one "));
  world_->Restart();
  EXPECT_OK(calls_.Append(Path("log"), "two"));
  EXPECT_EQ(calls_.Content(Path("log")), "one two");
}

TEST_P(StorageContract, JobsRunInOrderAndEndOnTheNodesThread) {
  const std::thread::id here = std::this_thread::get_id();
  std::vector<int> ran;  // jobs are one after another, and each end comes after its job
  std::vector<int> ended;
  for (int i = 0; i < 5; ++i) {
    compute().Run([&ran, i] { ran.push_back(i); },
                  [&ended, i, here] {
                    EXPECT_EQ(std::this_thread::get_id(), here);
                    ended.push_back(i);
                  });
  }
  EXPECT_THAT(ended, IsEmpty()) << "an end came from inside a call";
  ASSERT_TRUE(world_->RunUntil([&] { return ended.size() == 5; }));
  EXPECT_THAT(ran, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ended, ElementsAre(0, 1, 2, 3, 4));
}

TEST_P(StorageContract, AnEndMayRunTheNextJob) {
  std::vector<int> values;
  int sum = 0;
  std::function<void(int)> run = [&](int i) {
    compute().Run([&sum, i] { sum += i; },
                  [&, i] {
                    values.push_back(sum);
                    if (i < 3) run(i + 1);
                  });
  };
  run(1);
  ASSERT_TRUE(world_->RunUntil([&] { return values.size() == 3; }));
  EXPECT_THAT(values, ElementsAre(1, 3, 6));
}

TEST_P(StorageContract, WhatAJobHeldIsFreeAtItsEnd) {
  const auto token = std::make_shared<int>(0);  // shared: with the job
  long count = 0;
  compute().Run([token] {}, [&] { count = token.use_count(); });
  ASSERT_TRUE(world_->RunUntil([&] { return count != 0; }));
  EXPECT_EQ(count, 1);
}

INSTANTIATE_TEST_SUITE_P(Worlds, StorageContract, ::testing::ValuesIn(kWorlds),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace leeway::contract
