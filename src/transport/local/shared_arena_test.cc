#include "transport/local/shared_arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "transport/local/free_pieces.h"

namespace leeway {
namespace {

// Kilobytes of /proc/self/status.
long Resident(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(what + ":", 0) == 0) return std::stol(line.substr(what.size() + 1));
  }
  return -1;
}

TEST(FreePiecesTest, WhatIsTakenNeverOverlapsAndComesBackWhole) {
  FreePieces pieces(10'000);
  std::mt19937 random(7);
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (int i = 0; i < 5000; ++i) {
    if (!taken.empty() && random() % 2 == 0) {
      const std::size_t which = random() % taken.size();
      pieces.PutBack(taken[which].first, taken[which].second);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::size_t bytes = 1 + random() % 700;
    const auto offset = pieces.Take(bytes);
    if (!offset) continue;
    ASSERT_LE(*offset + bytes, 10'000U);
    for (const auto& [other, size] : taken) ASSERT_TRUE(*offset + bytes <= other || other + size <= *offset);
    taken.emplace_back(*offset, bytes);
  }
  for (const auto& [offset, bytes] : taken) pieces.PutBack(offset, bytes);
  EXPECT_EQ(pieces.Take(10'001), std::nullopt);
  EXPECT_EQ(pieces.Take(10'000), 0U) << "all of it is one piece again";
}

TEST(SharedArenaTest, PagesMadeAheadAreThereAndKeepWhatTheyHold) {
  SharedArena arena;
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  const auto piece = arena.Allocate(kBytes, Arena::Use::kSent);
  piece.get()[100] = std::byte{7};
  const long before = Resident("RssShmem");
  const std::function<void()> work = arena.Prepare({piece.get(), kBytes});
  ASSERT_TRUE(work);
  EXPECT_LT(Resident("RssShmem") - before, 1024) << "it is for another thread to do";
  work();
  EXPECT_GT(Resident("RssShmem") - before, static_cast<long>(kBytes / 1024) - 1024);
  EXPECT_EQ(piece.get()[100], std::byte{7});
  const auto small = arena.Allocate(1000, Arena::Use::kSent);
  EXPECT_FALSE(arena.Prepare({small.get(), 1000})) << "not worth another thread";
}

TEST(SharedArenaTest, WhatIsSentHasAPlaceAndWhatIsKeptHasNone) {
  SharedArena arena;
  const auto sent = arena.Allocate(1000, Arena::Use::kSent);
  const auto kept = arena.Allocate(1 << 20, Arena::Use::kKept);
  const auto small = arena.Allocate(10, Arena::Use::kKept);
  for (const auto& piece : {sent, kept, small})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.get()) % 64, 0U);
  const auto place = arena.Find({sent.get(), 1000});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(arena.Find({sent.get() + 64, 8})->offset, place->offset + 64);
  EXPECT_EQ(arena.Find({kept.get(), 1000}), std::nullopt);
  EXPECT_EQ(arena.Find({small.get(), 10}), std::nullopt);
  const SharedArena::RegionFile file = arena.FileOf(place->region);
  EXPECT_EQ(arena.Find({sent.get(), file.bytes}).has_value(), place->offset == 0) << "not beyond its region";
  EXPECT_EQ(arena.Find({sent.get(), file.bytes + 1}), std::nullopt);
}

TEST(SharedArenaTest, APeerReadsWhatIsWrittenAndCannotWrite) {
  SharedArena arena;
  const auto piece = arena.Allocate(4096, Arena::Use::kSent);
  std::strcpy(reinterpret_cast<char*>(piece.get()), "hello");
  const auto place = arena.Find({piece.get(), 4096});
  const int fd = arena.FileOf(place->region).fd;
  char read[6] = {};
  ASSERT_EQ(pread(fd, read, 6, static_cast<off_t>(place->offset)), 6);
  EXPECT_STREQ(read, "hello");
  EXPECT_LT(pwrite(fd, "x", 1, 0), 0);
  EXPECT_NE(ftruncate(fd, 0), 0);
}

TEST(SharedArenaTest, FreedMemoryGoesBackToTheSystemAndIsUsedAgain) {
  SharedArena arena;
  constexpr std::size_t kBytes = 32 << 20;
  for (const auto& [use, figure] :
       {std::pair(Arena::Use::kSent, "RssShmem"), std::pair(Arena::Use::kKept, "RssAnon")}) {
    const long before = Resident(figure);
    std::byte* first = nullptr;
    for (int i = 0; i < 20; ++i) {
      const auto piece = arena.Allocate(kBytes, use);
      std::memset(piece.get(), 1, kBytes);
      if (first == nullptr) first = piece.get();
      EXPECT_EQ(piece.get(), first);
      EXPECT_GE(Resident(figure), before + (30 << 10)) << figure;
    }
#if defined(__SANITIZE_THREAD__)
    if (use == Arena::Use::kKept) continue;  // what it notes of every byte is resident, and stays
#endif
    EXPECT_LE(Resident(figure), before + (4 << 10)) << figure;
  }
}

TEST(SharedArenaTest, PiecesOutliveTheArena) {
  auto arena = std::make_unique<SharedArena>();
  auto piece = arena->Allocate(1 << 20, Arena::Use::kSent);
  arena.reset();
  std::memset(piece.get(), 3, 1 << 20);
  piece.reset();
}

TEST(SharedArenaTest, LargePiecesGetRegionsOfTheirOwn) {
  SharedArena arena;
  const auto small = arena.Allocate(64, Arena::Use::kSent);
  const auto large = arena.Allocate(std::size_t{1} << 30, Arena::Use::kSent);
  EXPECT_NE(arena.Find({small.get(), 64})->region, arena.Find({large.get(), std::size_t{1} << 30})->region);
}

TEST(SharedArenaTest, AForkedChildTakesNothingFromItsParent) {
  SharedArena arena;
  constexpr std::size_t kBytes = 1 << 20;
  for (const Arena::Use use : {Arena::Use::kSent, Arena::Use::kKept}) {
    auto piece = arena.Allocate(kBytes, use);
    std::memset(piece.get(), 5, kBytes);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      piece.reset();
      const auto own = arena.Allocate(kBytes, use);
      std::memset(own.get(), 6, kBytes);
      _exit(arena.Find({own.get(), kBytes}) ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(std::count(piece.get(), piece.get() + kBytes, std::byte{5}), kBytes);
  }
}

TEST(SharedArenaTest, WhatCannotBeSharedNowIsPlainMemoryAndTheNextIsTriedAgain) {
  SharedArena arena;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto plain = arena.Allocate(4096, Arena::Use::kSent);
  const Status why = arena.unshared();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  std::memset(plain.get(), 1, 4096);
  EXPECT_EQ(arena.Find({plain.get(), 4096}), std::nullopt);
  EXPECT_NE(why.message().find("open files"), std::string::npos) << why.ToString();
  const auto shared = arena.Allocate(4096, Arena::Use::kSent);
  EXPECT_TRUE(arena.Find({shared.get(), 4096}).has_value());
  EXPECT_TRUE(arena.unshared().ok());
}

}  // namespace
}  // namespace leeway
