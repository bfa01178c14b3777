#include "sim/stream.h"

#include <gtest/gtest.h>

#include <set>

namespace leeway::sim {
namespace {

TEST(StreamTest, EveryoneHasAStreamOfItsOwnHoweverManyThereAre) {
  constexpr std::uint64_t kMany = 70'000;  // more than the most workers of a scenario, with servers
  std::set<std::uint64_t> given = {StreamOf(Stream::kNetwork), StreamOf(Stream::kFaults),
                                   StreamOf(Stream::kStart), StreamOf(Stream::kScheduler),
                                   StreamOf(Stream::kSecret)};
  for (const Stream kind : {Stream::kShards, Stream::kWorkers, Stream::kDisks}) {
    for (std::uint64_t i = 0; i < kMany; ++i) given.insert(StreamOf(kind, i));
  }
  EXPECT_EQ(given.size(), 5 + 3 * kMany);
}

}  // namespace
}  // namespace leeway::sim
