#include "transport/local/peer_regions.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "transport/system/descriptor.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kRegionBytes = 4 << 20;  // whole huge pages

Descriptor MakeMemory(unsigned flags = 0, int seals = F_SEAL_SHRINK) {
  Descriptor memory(memfd_create("leeway-test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (memory.fd() < 0) return memory;
  EXPECT_EQ(ftruncate(memory.fd(), kRegionBytes), 0);
  EXPECT_TRUE(seals == 0 || fcntl(memory.fd(), F_ADD_SEALS, seals) == 0);
  return memory;
}

TEST(PeerRegionsTest, WhatThePeerWritesIsReadWithinItsRegions) {
  PeerRegions regions(1ULL << 40);
  const Descriptor memory = MakeMemory();
  ASSERT_TRUE(regions.Add(0, kRegionBytes, memory.fd()).ok());
  ASSERT_EQ(pwrite(memory.fd(), "hello", 5, 4096), 5);
  const auto view = regions.At(0, 4096, 5, 4);
  ASSERT_TRUE(view.ok()) << view.status().ToString();
  EXPECT_EQ(std::memcmp(view->data(), "hello", 5), 0);
  EXPECT_TRUE(regions.At(0, kRegionBytes - 4, 4, 4).ok());
  EXPECT_THAT(regions.At(0, kRegionBytes - 4, 8, 4).status().message(), HasSubstr("wanted within"));
  EXPECT_THAT(regions.At(0, ~std::uint64_t{3}, 8, 4).status().message(), HasSubstr("wanted within"));
  EXPECT_THAT(regions.At(0, 2, 8, 4).status().message(), HasSubstr("wanted a multiple of 4"));
  EXPECT_THAT(regions.At(1, 0, 8, 4).status().message(), HasSubstr("got region 1"));
}

TEST(PeerRegionsTest, MemoryThatMayShrinkOrBeShortIsRefused) {
  PeerRegions regions(1ULL << 40);
  EXPECT_THAT(regions.Add(0, kRegionBytes, MakeMemory(0, 0).fd()).message(), HasSubstr("not sealed"));
  EXPECT_THAT(regions.Add(0, kRegionBytes, MakeMemory(0, F_SEAL_GROW).fd()).message(),
              HasSubstr("not sealed"));
  EXPECT_THAT(regions.Add(0, kRegionBytes + 1, MakeMemory().fd()).message(), HasSubstr("has 4194304 bytes"));
  EXPECT_THAT(regions.Add(1, kRegionBytes, MakeMemory().fd()).message(), HasSubstr("got region 1, wanted 0"));
}

TEST(PeerRegionsTest, HugePagesWhichTheSystemMayNotHaveAreRefused) {
  const Descriptor memory = MakeMemory(MFD_HUGETLB);
  if (memory.fd() < 0) GTEST_SKIP() << "this system has no huge pages to ask for";
  PeerRegions regions(1ULL << 40);
  EXPECT_THAT(regions.Add(0, kRegionBytes, memory.fd()).message(), HasSubstr("no plain shared memory"));
}

TEST(PeerRegionsTest, OnePeerIsMappedUpToItsLimit) {
  PeerRegions regions(2 * kRegionBytes);
  const Descriptor memory = MakeMemory();
  EXPECT_TRUE(regions.Add(0, kRegionBytes, memory.fd()).ok());
  EXPECT_TRUE(regions.Add(1, kRegionBytes - 4096, memory.fd()).ok());
  EXPECT_THAT(regions.Add(2, 4097, memory.fd()).message(), HasSubstr("wanted 1 to 4096, what is left"));
  EXPECT_THAT(regions.Add(2, ~std::uint64_t{0}, memory.fd()).message(), HasSubstr("wanted 1 to 4096"));
  EXPECT_TRUE(regions.Add(2, 4096, memory.fd()).ok());
}

}  // namespace
}  // namespace leeway
