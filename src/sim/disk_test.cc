// The files that crashes leave on a disk. Each case runs over many seeds: the test sees every allowed
// outcome, and no other.
#include "sim/disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "sim/event_queue.h"
#include "sim/sim_storage.h"

namespace leeway::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int kSeeds = 300;
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::vector<Pinned> Data(const std::string& text) {
  const auto kept = std::make_shared<const std::string>(text);  // shared: it is its own pin
  return {{std::as_bytes(std::span(*kept)), kept}};
}

// A host with one process on it.
class Machine {
 public:
  explicit Machine(std::uint64_t seed, const DiskOptions& options = {}) : disk(options, seed) {}

  void Append(const std::string& path, const std::string& text) {
    EXPECT_TRUE(disk.Append(path, Data(text)).ok());
  }
  void Sync(const std::string& path) { EXPECT_TRUE(disk.Sync(path).ok()); }
  void SyncFolder(const std::string& path) { EXPECT_TRUE(disk.SyncFolder(path).ok()); }
  void Rename(const std::string& from, const std::string& to) { EXPECT_TRUE(disk.Rename(from, to).ok()); }
  void Remove(const std::string& path) { EXPECT_TRUE(disk.Remove(path).ok()); }
  // A file with these bytes, safe from all.
  void Safe(const std::string& path, const std::string& text) {
    Append(path, text);
    Sync(path);
    SyncFolder("/");
  }
  // The contents of the file; "-" if it does not exist.
  [[nodiscard]] std::string Content(const std::string& path) const {
    const Result<std::vector<std::byte>> got = disk.Read(path, 0, kAll);
    return got.ok() ? std::string(reinterpret_cast<const char*>(got->data()), got->size()) : "-";
  }
  void RunUntilIdle() {
    while (queue.RunOne()) {
    }
  }
  void RunFor(Duration time) {
    const Duration end = queue.now() + time;
    while (queue.next() <= end) queue.RunOne();
  }

  EventQueue queue;
  Disk disk;
  std::unique_ptr<SimStorage> process = std::make_unique<SimStorage>(queue, disk);
};

// All that `look` finds after a loss of power, over many seeds.
std::set<std::string> AfterPowerLoss(const std::function<void(Machine&)>& before,
                                     const std::function<std::string(Machine&)>& look,
                                     DiskCounters* counters = nullptr) {
  std::set<std::string> found;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine machine(static_cast<std::uint64_t>(seed));
    before(machine);
    machine.disk.PowerLoss();
    found.insert(look(machine));
    if (counters != nullptr) *counters += machine.disk.counters();
  }
  return found;
}

TEST(DiskTest, WhatWasSyncedSurvivesALossOfPower) {
  DiskCounters counters;
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Append("log", "one");
        m.Append("log", "two");
        m.Sync("log");
        m.SyncFolder("/");
      },
      [](Machine& m) { return m.Content("log"); }, &counters);
  EXPECT_THAT(found, ElementsAre("onetwo"));
  EXPECT_EQ(counters.power.lost_bytes, 0U);
  EXPECT_EQ(counters.power.undone_creations, 0U);
}

TEST(DiskTest, OfUnsyncedAppendsAnyPrefixMaySurvive) {
  DiskCounters counters;
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("log", "S");
        m.Append("log", "abc");
        m.Append("log", "de");
      },
      [](Machine& m) { return m.Content("log"); }, &counters);
  EXPECT_THAT(found, UnorderedElementsAre("S", "Sa", "Sab", "Sabc", "Sabcd", "Sabcde"));
  EXPECT_GT(counters.power.lost_bytes, 0U);
  EXPECT_GT(counters.power.torn_files, 0U);
}

TEST(DiskTest, WhatALossOfPowerLeftIsSafeFromTheNext) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine m(static_cast<std::uint64_t>(seed));
    m.Append("log", "abcdef");
    m.Append("other", "x");
    m.disk.PowerLoss();
    const std::string left = m.Content("log") + m.Content("other");
    m.disk.PowerLoss();
    EXPECT_EQ(m.Content("log") + m.Content("other"), left);
  }
}

TEST(DiskTest, ASyncOfAFileDoesNotSaveItsName) {
  DiskCounters counters;
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Append("log", "abc");
        m.Sync("log");
      },
      [](Machine& m) { return m.Content("log"); }, &counters);
  EXPECT_THAT(found, UnorderedElementsAre("-", "abc"));
  EXPECT_GT(counters.power.undone_creations, 0U);
}

TEST(DiskTest, ASyncOfAFolderDoesNotSaveWhatIsInItsFiles) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Append("log", "ab");
        m.SyncFolder("/");
      },
      [](Machine& m) { return m.Content("log"); });
  EXPECT_THAT(found, UnorderedElementsAre("", "a", "ab"));
}

TEST(DiskTest, ANewFolderNeedsASyncOfTheOneThatItIsIn) {
  const auto make = [](Machine& m) {
    m.Append("new/log", "a");
    m.Sync("new/log");
    m.SyncFolder("new");
  };
  const auto look = [](Machine& m) { return m.Content("new/log"); };
  EXPECT_THAT(AfterPowerLoss(make, look), UnorderedElementsAre("-", "a"));
  const auto make_safely = [&](Machine& m) {
    make(m);
    m.SyncFolder("/");
  };
  EXPECT_THAT(AfterPowerLoss(make_safely, look), ElementsAre("a"));
}

TEST(DiskTest, ARenameIsDoneOrUndoneAsAWhole) {
  const auto look = [](Machine& m) { return m.Content("temp") + " " + m.Content("final"); };
  const auto rename = [](Machine& m) {
    m.Safe("final", "old");
    m.Safe("temp", "new");
    m.Rename("temp", "final");
  };
  DiskCounters counters;
  EXPECT_THAT(AfterPowerLoss(rename, look, &counters), UnorderedElementsAre("new old", "- new"));
  EXPECT_GT(counters.power.undone_renames, 0U);
  const auto rename_safely = [&](Machine& m) {
    rename(m);
    m.SyncFolder("/");
  };
  EXPECT_THAT(AfterPowerLoss(rename_safely, look), ElementsAre("- new"));
}

TEST(DiskTest, ARenameOfUnsyncedBytesMayReplaceTheOldByLess) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("final", "old");
        m.Append("temp", "nw");
        m.Rename("temp", "final");
        m.SyncFolder("/");
      },
      [](Machine& m) { return m.Content("final"); });
  EXPECT_THAT(found, UnorderedElementsAre("", "n", "nw"));  // the bug that Sync before Rename prevents
}

TEST(DiskTest, TheWholeRiteLeavesTheOldOrTheNew) {
  const auto look = [](Machine& m) { return m.Content("final"); };
  const auto rite = [](Machine& m) {
    m.Safe("final", "old");
    m.Append("temp", "new");
    m.Sync("temp");
    m.Rename("temp", "final");
  };
  EXPECT_THAT(AfterPowerLoss(rite, look), UnorderedElementsAre("old", "new"));
}

TEST(DiskTest, ARemovalMayBeUndone) {
  const auto look = [](Machine& m) { return m.Content("file"); };
  const auto remove = [](Machine& m) {
    m.Safe("file", "x");
    m.Remove("file");
  };
  DiskCounters counters;
  EXPECT_THAT(AfterPowerLoss(remove, look, &counters), UnorderedElementsAre("-", "x"));
  EXPECT_GT(counters.power.undone_removals, 0U);
  const auto remove_safely = [&](Machine& m) {
    remove(m);
    m.SyncFolder("/");
  };
  EXPECT_THAT(AfterPowerLoss(remove_safely, look), ElementsAre("-"));
}

TEST(DiskTest, AFolderMayComeBackWithAPartOfItsFiles) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("folder/a", "A");
        m.Safe("folder/b", "B");
        m.SyncFolder("folder");
        m.Remove("folder");
      },
      [](Machine& m) { return m.Content("folder/a") + m.Content("folder/b"); });
  EXPECT_THAT(found, UnorderedElementsAre("--", "A-", "-B", "AB"));
}

TEST(DiskTest, ChangesOfDifferentNamesAreUndoneEachByItself) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        for (const char* name : {"a", "b"}) {
          m.Append(name, name);
          m.Sync(name);
        }
      },
      [](Machine& m) { return m.Content("a") + m.Content("b"); });
  EXPECT_THAT(found, UnorderedElementsAre("--", "a-", "-b", "ab"));
}

TEST(DiskTest, AFileThatWasRenamedTwiceHasOneOfItsNames) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("a", "x");
        m.Rename("a", "b");
        m.Rename("b", "c");
      },
      [](Machine& m) { return m.Content("a") + m.Content("b") + m.Content("c"); });
  EXPECT_THAT(found, UnorderedElementsAre("x--", "-x-", "--x"));
}

TEST(DiskTest, AFileThatMovesIntoANewFolderIsNeverLost) {
  const auto move = [](Machine& m) {
    m.Safe("file", "x");
    m.Append("new/other", "");
    m.Rename("file", "new/file");
  };
  const auto look = [](Machine& m) { return m.Content("file") + m.Content("new/file"); };
  EXPECT_THAT(AfterPowerLoss(move, look), UnorderedElementsAre("x-", "-x"));
  // Safe once both folders were told.
  const auto move_half = [&](Machine& m) {
    move(m);
    m.SyncFolder("new");
  };
  EXPECT_THAT(AfterPowerLoss(move_half, look), UnorderedElementsAre("x-", "-x"));
  const auto move_safely = [&](Machine& m) {
    move_half(m);
    m.SyncFolder("/");
  };
  EXPECT_THAT(AfterPowerLoss(move_safely, look), ElementsAre("-x"));
}

TEST(DiskTest, WhatASafeChangeBuildsOnIsSafeWithIt) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("f/a", "x");
        m.Safe("g/other", "");
        m.SyncFolder("f");
        m.Rename("f/a", "g/b");
        m.Rename("g/b", "g/c");
        m.SyncFolder("g");
      },
      [](Machine& m) { return m.Content("f/a") + m.Content("g/b") + m.Content("g/c"); });
  EXPECT_THAT(found, ElementsAre("--x"));
}

TEST(DiskTest, FoldersThatSwapPlacesNeverHoldEachOther) {
  const auto found = AfterPowerLoss(
      [](Machine& m) {
        m.Safe("a/b/d/file", "x");
        for (const char* folder : {"a", "a/b", "a/b/d"}) m.SyncFolder(folder);
        m.Rename("a/b", "c");
        m.Rename("a", "c/d/a");
      },
      [](Machine& m) { return m.Content("a/b/d/file") + m.Content("c/d/file"); });
  EXPECT_THAT(found, UnorderedElementsAre("x-", "-x"));
}

TEST(DiskTest, ARemovedFolderLeavesNothingThatWaits) {
  Machine m(1);
  for (int i = 0; i < 3; ++i) {
    m.Append("checkpoint/file", "x");
    m.Rename("checkpoint/file", "last");
    m.Remove("checkpoint");
    m.SyncFolder("/");
  }
  m.SyncFolder("/");
  m.Sync("last");
  m.disk.PowerLoss();
  EXPECT_EQ(m.Content("last"), "x");
  EXPECT_EQ(m.disk.counters().power.undone_renames, 0U);
}

TEST(DiskTest, AProcessCrashKeepsWhatWasCarriedOut) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine m(static_cast<std::uint64_t>(seed));
    m.Append("a", "abc");  // nothing synced
    m.Rename("a", "b");
    m.disk.ProcessCrash();
    EXPECT_EQ(m.Content("b"), "abc");
    EXPECT_EQ(m.Content("a"), "-");
  }
}

TEST(DiskTest, OfTheAppendUnderWayAPrefixIsThereAndTheRestVanishes) {
  std::set<std::string> found;
  DiskCounters counters;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine m(static_cast<std::uint64_t>(seed));
    m.Append("log", "S");
    int answers = 0;
    m.process->Append("log", Data("abc"), [&](const Status&) { ++answers; });
    m.process->Append("log", Data("never"), [&](const Status&) { ++answers; });
    m.process->Remove("log", [&](const Status&) { ++answers; });
    m.disk.ProcessCrash();
    m.process->Append("log", Data("after"), [&](const Status&) { ++answers; });
    m.RunUntilIdle();
    EXPECT_EQ(answers, 0);
    m.process.reset();
    found.insert(m.Content("log"));
    counters += m.disk.counters();
  }
  EXPECT_THAT(found, UnorderedElementsAre("S", "Sa", "Sab", "Sabc"));
  EXPECT_EQ(counters.dropped_calls, 2U * kSeeds);
  EXPECT_GT(counters.torn_appends, 0U);
  EXPECT_LT(counters.torn_appends, static_cast<std::uint64_t>(kSeeds));
}

TEST(DiskTest, ARenameUnderWayIsCarriedOutOrNot) {
  std::set<std::string> found;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine m(static_cast<std::uint64_t>(seed));
    m.Append("a", "x");
    m.process->Rename("a", "b", [](const Status&) { FAIL(); });
    m.disk.ProcessCrash();
    found.insert(m.Content("a") + m.Content("b"));
  }
  EXPECT_THAT(found, UnorderedElementsAre("x-", "-x"));
}

TEST(DiskTest, OneProcessDiesAndAnotherGoesOn) {
  Machine m(1);
  SimStorage other(m.queue, m.disk);
  bool done = false;
  m.process->Append("a", Data("x"), [](const Status&) { FAIL(); });
  other.Append("b", Data("y"), [&](const Status& got) { done = got.ok(); });
  m.process->ProcessCrash();
  m.RunUntilIdle();
  EXPECT_TRUE(done);
  EXPECT_EQ(m.Content("b"), "y");
}

TEST(DiskTest, ASyncThatWasNotAnsweredPromisesNothing) {
  std::set<std::string> found;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Machine m(static_cast<std::uint64_t>(seed));
    m.Safe("log", "S");
    m.Append("log", "abc");
    m.process->Sync("log", [](const Status&) { FAIL(); });
    m.disk.PowerLoss();
    found.insert(m.Content("log"));
  }
  EXPECT_THAT(found, Contains("S"));
  EXPECT_THAT(found, Contains("Sabc"));
}

TEST(DiskTest, AFullDiskTakesThePrefixThatFits) {
  Machine m(1, {.capacity_bytes = 10});
  m.Append("a", "123456");
  const Status got = m.disk.Append("b", Data("abcdef"));
  EXPECT_EQ(got.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(got.message(), HasSubstr("\"b\": No space left"));
  EXPECT_EQ(m.Content("b"), "abcd");
  EXPECT_EQ(m.disk.counters().full_answers, 1U);
  EXPECT_EQ(m.disk.bytes(), 10U);
  // Room comes back with a removal, or with a larger disk.
  m.Remove("a");
  m.Append("b", "efghij");
  EXPECT_FALSE(m.disk.Append("c", Data("x")).ok());
  m.disk.set_capacity_bytes(11);
  m.Append("c", "x");
  EXPECT_EQ(m.disk.counters().full_answers, 2U);
}

// How long one append of `bytes` takes.
Duration TimeOf(std::uint64_t seed, std::size_t bytes, double slow) {
  Machine m(seed);
  m.disk.set_slow(slow);
  m.process->Append("log", Data(std::string(bytes, 'x')), [](const Status&) {});
  m.RunUntilIdle();
  return m.queue.now();
}

TEST(DiskTest, CallsTakeLatencyAndTheTimeOfTheirBytes) {
  const DiskOptions options;
  std::set<Duration> times;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Duration small = TimeOf(seed, 0, 1);
    EXPECT_GE(small, options.call_latency / 2);
    EXPECT_LE(small, options.call_latency * 3 / 2);
    times.insert(small);
    const auto large = TimeOf(seed, 5'000'000, 1);  // 10 ms at 500 MB/s
    EXPECT_GE(large, std::chrono::milliseconds(5));
    EXPECT_LE(large, std::chrono::milliseconds(16));
    EXPECT_GE(TimeOf(seed, 0, 100), small * 99);
    EXPECT_EQ(TimeOf(seed, 0, 1), small);
  }
  EXPECT_GT(times.size(), 10U);
}

TEST(DiskTest, ProcessesOfAHostShareItsDisk) {
  Machine m(1, {.bytes_per_second = 1'000'000});
  SimStorage other(m.queue, m.disk);
  m.process->Append("a", Data(std::string(1000, 'x')), [](const Status&) {});
  other.Append("b", Data(std::string(1000, 'x')), [](const Status&) {});
  m.RunUntilIdle();
  EXPECT_GE(m.queue.now(), std::chrono::milliseconds(1));  // 2 x 1 ms, each at least half
}

TEST(DiskTest, TheSameSeedGivesTheSameOutcome) {
  const auto run = [](std::uint64_t seed) {
    Machine m(seed);
    std::string told;
    for (int i = 0; i < 30; ++i) {
      const std::string name = "f" + std::to_string(i % 5);
      m.process->Append(name, Data("0123456789"), [&told, name](const Status&) { told += name; });
      if (i % 4 == 0) m.process->Sync(name, [&](const Status&) { told += " sync "; });
      if (i % 7 == 0)
        m.process->Rename(name, "g" + std::to_string(i), [&](const Status&) { told += " rename "; });
    }
    m.RunFor(std::chrono::milliseconds(3));
    m.disk.PowerLoss();
    const Result<std::vector<Storage::Entry>> left = m.disk.List("/");
    for (const Storage::Entry& entry : *left) told += entry.name + "=" + m.Content(entry.name) + " ";
    return told;
  };
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string outcome = run(seed);
    EXPECT_EQ(run(seed), outcome);
    outcomes.insert(outcome);
  }
  EXPECT_GT(outcomes.size(), 15U);
}

}  // namespace
}  // namespace leeway::sim
