#include "memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(FlatnessTest, GrowthIsAfterTheWarmUpAndNotOfOneLook) {
  std::vector<ProcessMemory> looks;
  for (int i = 0; i < 100; ++i) {
    // Warms up, stays, has one high look in its last tenth; one descriptor is lost in the middle.
    looks.push_back(
        {.anon_kib = i < 10 ? 10.0 * i : 500, .shmem_kib = 4.0 * i, .descriptors = i < 50 ? 9.0 : 10.0});
  }
  looks[95].anon_kib = 9000;
  const FlatnessRow row = Growth("server", looks);
  EXPECT_EQ(row.anon_growth_kib(), 0);
  EXPECT_EQ(row.shmem_growth_kib(), 4.0 * 80);
  EXPECT_EQ(row.descriptors_growth(), 1);
}

TEST(MemoryTest, SaysWhatGrew) {
  MemoryReport report;
  report.flat.emplace();
  report.flat->rows.push_back({.process = "worker 1", .after_warm_up = {100, 0, 7}, .at_end = {1124, 0, 7}});
  EXPECT_EQ(TooMuch(report), "") << "1 MiB is allowed";
  report.flat->rows[0].at_end = {1125, 0, 8};
  EXPECT_THAT(TooMuch(report),
              HasSubstr("worker 1: RssAnon in KiB grew by 1025 over 20000 iterations, wanted at most 1024"));
  EXPECT_THAT(TooMuch(report), HasSubstr("worker 1: open descriptors grew by 1"));
}

TEST(MemoryTest, RefusesWhatItCannotRun) {
  EXPECT_THAT(RunMemory({.first = FirstIterationOptions{.model_bytes = 65}, .flat = {}}).status().message(),
              HasSubstr("model bytes: got 65, wanted a multiple of 64"));
  EXPECT_THAT(RunMemory({.first = FirstIterationOptions{.workers = 0}, .flat = {}}).status().message(),
              HasSubstr("workers: got 0"));
  EXPECT_THAT(RunMemory({.first = {}, .flat = FlatnessOptions{.iterations = 99}}).status().message(),
              HasSubstr("iterations: got 99, wanted at least 100"));
  EXPECT_THAT(RunMemory({.first = {}, .flat = FlatnessOptions{.transport = "tpc"}}).status().message(),
              HasSubstr("(did you mean \"tcp\"?)"));
}

TEST(MemoryTest, TheJsonHasNullForWhatWasNotAskedFor) {
  MemoryReport report;
  report.first.emplace();
  const std::string json = ToJson(report);
  EXPECT_THAT(json, HasSubstr(R"("flat":null)"));
  for (const char* field :
       {"model_bytes", "seconds", "copy_seconds", "ratio", "ratio_spread", "touched_ratio", "busy_during"})
    EXPECT_THAT(json, HasSubstr('"' + std::string(field) + "\":"));
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

TEST(ProcessMemoryTest, CountsWhatAProcessTakes) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer keeps notes of every byte in anonymous memory of its own";
#endif
  const Result<ProcessMemory> before = MemoryOf(getpid());
  ASSERT_TRUE(before.ok()) << before.status().ToString();
  constexpr std::size_t kBytes = 8U << 20;
  void* const anon = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(anon != MAP_FAILED && shared != MAP_FAILED);
  std::memset(anon, 1, kBytes);
  std::memset(shared, 1, kBytes);
  const int fd = dup(STDERR_FILENO);
  const Result<ProcessMemory> after = MemoryOf(getpid());
  close(fd);
  munmap(anon, kBytes);
  munmap(shared, kBytes);
  ASSERT_TRUE(after.ok());
  EXPECT_NEAR(after->anon_kib - before->anon_kib, 8192, 512);
  EXPECT_NEAR(after->shmem_kib - before->shmem_kib, 8192, 512);
  EXPECT_EQ(after->descriptors, before->descriptors + 1);
  EXPECT_THAT(MemoryOf(0x7ffffff0).status().message(), HasSubstr("is gone"));
}

}  // namespace
}  // namespace leeway::bench
