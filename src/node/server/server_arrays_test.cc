// Frames that set and read arrays of blocks, as a shard takes them.
#include <gmock/gmock.h>

#include "node/server/testing/hand_fed_server.h"

namespace leeway {
namespace {

using testing::DecodeAs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::Kind;

class ServerArraysTest : public testing::HandFedServer {
 protected:
  void Begin(const std::string& optimizer, const std::string& sync_spec = "bsp") {
    SendRoster(1, 1);
    SendMap(Map(sync_spec, 4, 2, optimizer));  // blocks 1 and 3 are here
    w0 = HelloWorker(0);
    Init(w0, 0, 1, {10, 20});
    (void)Verdicts(w0);
  }
  Status Assign(std::uint32_t block, std::uint64_t seq, std::uint8_t array, std::uint64_t steps,
                const std::vector<float>& values) {
    const wire::Assign assign{
        WorkerId(0),
        Incarnation(1),
        {{BlockId(block), Term(1), Seq(seq), Version(1), steps, Bytes(values.size()), array}}};
    return world.transport.DeliverData(w0, Kind::kAssign, assign, values);
  }
  Status Read(wire::ReadWhat what, std::uint64_t cached = 0, std::uint32_t block = 1) {
    const wire::Read read{WorkerId(0), Incarnation(1), 5, what, {{BlockId(block), Term(1), Version(cached)}}};
    return world.transport.DeliverData(w0, Kind::kRead, read);
  }
  // Arrays that the shard has sent since, as "array/arrays of version at steps: values".
  std::vector<std::string> Arrays() {
    std::vector<std::string> lines;
    for (const auto& frame : world.transport.TakeSent(w0, Kind::kArrays)) {
      const auto message = DecodeAs<wire::Arrays>(frame);
      EXPECT_EQ(message.request, 5U);
      std::size_t at = 0;
      for (const wire::ArraysEntry& entry : message.entries) {
        std::string line =
            fmt::format("{}/{} of {} at {}:", entry.array, entry.arrays, entry.version.value(), entry.steps);
        for (std::size_t n = entry.payload_bytes / sizeof(float); n > 0; --n)
          line += fmt::format(" {}", frame.floats()[at++]);
        lines.push_back(line);
      }
    }
    return lines;
  }
  ConnectionId w0;
};

TEST_F(ServerArraysTest, StateThatWasSetIsReadAgain) {
  Begin("adam");
  ASSERT_TRUE(Assign(1, 1, 1, 7, {1, 2}).ok());
  ASSERT_TRUE(Assign(1, 2, 2, 7, {3, 4}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:1:applied", "1:2:applied"));
  ASSERT_TRUE(Read(wire::ReadWhat::kState).ok());
  EXPECT_THAT(Arrays(), ElementsAre("1/2 of 1 at 7: 1 2", "2/2 of 1 at 7: 3 4"));
}

TEST_F(ServerArraysTest, ValuesAreReadUnlessTheWorkerHasThem) {
  Begin("sgd+clamp:0,15");
  EXPECT_THAT(Values(1), ElementsAre(10, 15)) << "initial values are constrained as well";
  ASSERT_TRUE(Read(wire::ReadWhat::kValues, 1).ok());
  EXPECT_THAT(Arrays(), ElementsAre("0/0 of 1 at 0:"));
  ASSERT_TRUE(Assign(1, 1, 0, 0, {-1, 99}).ok());
  ASSERT_TRUE(Read(wire::ReadWhat::kValues, 1).ok());
  EXPECT_THAT(Arrays(), ElementsAre("0/1 of 2 at 0: 0 15"));
  ASSERT_TRUE(Read(wire::ReadWhat::kState).ok());
  EXPECT_THAT(Arrays(), ElementsAre("0/0 of 2 at 0:")) << "sgd has no state";
}

TEST_F(ServerArraysTest, WhatIsNotHereHasMoved) {
  Begin("sgd");
  ASSERT_TRUE(Read(wire::ReadWhat::kValues, 0, 2).ok());
  ASSERT_TRUE(Assign(2, 1, 0, 0, {1, 1}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("2:0:moved", "2:1:moved"));
  EXPECT_TRUE(Arrays().empty());
}

TEST_F(ServerArraysTest, ABlockWithoutInitialValuesSaysSo) {
  Begin("sgd");
  ASSERT_TRUE(Read(wire::ReadWhat::kValues, 0, 3).ok());
  EXPECT_THAT(Arrays(), ElementsAre("0/0 of 0 at 0:"));
}

TEST_F(ServerArraysTest, AnotherSizeBreaksTheProtocol) {
  Begin("sgd");
  (void)Assign(1, 1, 0, 0, {1, 2, 3});
  EXPECT_THAT(GoodbyeTo(w0), HasSubstr("got 12 bytes, wanted 8"));
}

}  // namespace
}  // namespace leeway
