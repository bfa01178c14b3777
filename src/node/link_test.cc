#include "node/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "node/testing/handshake.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeEnv;
using ::testing::HasSubstr;
using testing::ParseAs;
using testing::SentFrame;

class LinkDiary final : public LinkEvents {
 public:
  wire::pb::Hello MakeHello(std::uint32_t) override {
    wire::pb::Hello hello;
    hello.set_job("j");
    hello.set_life(7);
    return hello;
  }
  void OnUp(std::uint32_t, const wire::pb::Welcome& welcome) override {
    ++ups;
    id = welcome.id();
  }
  void OnDown(std::uint32_t, const Status& why) override { downs.push_back(why); }
  void OnFailed(std::uint32_t, const Status& why) override { failed.push_back(why); }
  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead&, std::span<const std::byte>) override {
    return Protocol("no payload is wanted");
  }
  void OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte>, Landing&&) override {
    frames.push_back(static_cast<wire::Kind>(head.kind));
  }

  int ups = 0;
  std::uint32_t id = 0;
  std::vector<Status> downs, failed;
  std::vector<wire::Kind> frames;
};

class LinkTest : public ::testing::Test {
 protected:
  // Welcomes the connect under way.
  ConnectionId Welcome(std::uint32_t version = wire::kVersionMax, const std::string& host_key = "") {
    const ConnectionId id = world.transport.CompleteConnect();
    wire::pb::Welcome welcome;
    welcome.set_version(version);
    welcome.set_id(3);
    welcome.set_host_key(host_key);
    EXPECT_TRUE(testing::Welcome(world.transport, id, welcome, kSecret).ok());
    return id;
  }
  std::size_t Pings(ConnectionId id) { return world.transport.TakeSent(id, wire::Kind::kPing).size(); }

  static constexpr std::string_view kSecret = "the secret of this job, 32 bytes";
  FakeEnv world;
  LinkDiary diary;
  LinkOptions options = WithSecret();
  static LinkOptions WithSecret() {
    LinkOptions with;
    with.secret = kSecret;
    return with;
  }
  Result<std::string> address{std::string("127.0.0.1:9")};
  Link link{world.env, options, [this] { return address; }, 0, "server 1 shard 0", diary};
};

TEST_F(LinkTest, SaysOnceWhyNoMemoryIsSharedOnOneHost) {
  world.transport.host = "here";
  link.Start();
  const ConnectionId first = Welcome(wire::kVersionMax, "here");
  ASSERT_EQ(world.log.lines.size(), 1U);
  EXPECT_THAT(world.log.lines[0], HasSubstr("its Unix socket is not within reach"));
  EXPECT_THAT(world.log.lines[0], HasSubstr("frames go over TCP"));
  const std::size_t said = world.log.lines.size();
  EXPECT_FALSE(world.transport.Lose(first).ok());
  world.Advance(seconds(1));
  Welcome(wire::kVersionMax, "here");
  EXPECT_EQ(diary.ups, 2);
  EXPECT_EQ(world.log.lines.size(), said);
}

TEST_F(LinkTest, SaysWhatTheTransportKnowsOfWhyNoMemoryIsShared) {
  world.transport.carrier = "uds";
  world.transport.why_not_shared = "it shares no memory";
  link.Start();
  Welcome();
  ASSERT_EQ(world.log.lines.size(), 1U);
  EXPECT_THAT(world.log.lines[0], HasSubstr("(it shares no memory): frames go through its Unix socket"));
}

TEST_F(LinkTest, SaysNothingOfMemoryBetweenTwoHosts) {
  world.transport.host = "here";
  link.Start();
  Welcome(wire::kVersionMax, "elsewhere");
  EXPECT_TRUE(world.log.lines.empty());
}

TEST_F(LinkTest, SaysHelloWithItsVersionsAndIsUpWhenWelcomed) {
  link.Start();
  ASSERT_EQ(world.transport.connects.size(), 1U);
  EXPECT_EQ(world.transport.connects[0].second, "127.0.0.1:9");
  const ConnectionId id = world.transport.CompleteConnect();
  const std::vector<SentFrame> sent = world.transport.TakeSent(id);
  ASSERT_EQ(sent.size(), 1U);
  const auto hello = ParseAs<wire::pb::Hello>(sent[0]);
  EXPECT_EQ(hello.version_min(), wire::kVersionMin);
  EXPECT_EQ(hello.version_max(), wire::kVersionMax);
  EXPECT_EQ(hello.life(), 7U);
  EXPECT_FALSE(link.up());
  Welcome();
  EXPECT_TRUE(link.up());
  EXPECT_EQ(diary.ups, 1);
  EXPECT_EQ(diary.id, 3U);
}

TEST_F(LinkTest, LiftsTheLimitsOnlyAfterTheWelcome) {
  link.Start();
  const ConnectionId id = world.transport.connects[0].first;
  EXPECT_EQ(world.transport.limits(id).payload_bytes_max, 0U);
  Welcome();
  EXPECT_EQ(world.transport.limits(id).payload_bytes_max, options.payload_bytes_max);
  EXPECT_EQ(world.transport.limits(id).body_bytes_max, options.body_bytes_max);
}

TEST_F(LinkTest, DropsWhatIsSentBeforeItIsUp) {
  link.Start();
  link.SendControl(wire::Kind::kLeave, wire::pb::Leave());
  const ConnectionId id = Welcome();
  link.SendControl(wire::Kind::kLeave, wire::pb::Leave());
  EXPECT_EQ(world.transport.TakeSent(id, wire::Kind::kLeave).size(), 1U);
}

TEST_F(LinkTest, PingsOnlyAfterABeatOfItsOwnSilence) {
  link.Start();
  const ConnectionId id = Welcome();
  world.Advance(milliseconds(999));
  EXPECT_EQ(Pings(id), 0U);
  world.Advance(milliseconds(1));
  EXPECT_EQ(Pings(id), 1U);
  world.Advance(milliseconds(500));
  link.SendControl(wire::Kind::kLeave, wire::pb::Leave());
  world.Advance(milliseconds(999));
  EXPECT_EQ(Pings(id), 0U);
  world.Advance(milliseconds(1));
  EXPECT_EQ(Pings(id), 1U);
}

TEST_F(LinkTest, AnswersAPing) {
  link.Start();
  const ConnectionId id = Welcome();
  (void)world.transport.TakeSent(id);
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPing, {}).ok());
  const auto sent = world.transport.TakeSent(id);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].kind, wire::Kind::kPong);
  EXPECT_TRUE(diary.frames.empty());
}

TEST_F(LinkTest, ASilentPeerIsCutOffAndReconnectedTo) {
  link.Start();
  const ConnectionId id = Welcome();
  world.Advance(milliseconds(9'999));
  EXPECT_TRUE(link.up());
  world.Advance(milliseconds(1));
  EXPECT_FALSE(link.up());
  EXPECT_FALSE(world.transport.IsOpen(id));
  ASSERT_EQ(diary.downs.size(), 1U);
  EXPECT_THAT(diary.downs[0].message(), HasSubstr("server 1 shard 0 at 127.0.0.1:9 was silent for 10.0 s"));
  world.Advance(milliseconds(30));
  ASSERT_EQ(world.transport.connects.size(), 2U);
  Welcome();
  EXPECT_EQ(diary.ups, 2);
}

TEST_F(LinkTest, AnyFrameOfThePeerEndsItsSilence) {
  link.Start();
  const ConnectionId id = Welcome();
  for (int i = 0; i < 5; ++i) {
    world.Advance(seconds(9));
    ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPong, {}).ok());
  }
  EXPECT_TRUE(link.up());
}

TEST_F(LinkTest, ALongFrameIsHeardOfWhileItArrives) {
  link.Start();
  const ConnectionId id = Welcome();
  for (int i = 0; i < 5; ++i) {
    world.Advance(seconds(9));
    world.transport.received[id] = world.clock.now;
    EXPECT_EQ(link.last_heard(), world.clock.now);
  }
  EXPECT_TRUE(link.up());
  world.Advance(milliseconds(9'999));
  EXPECT_TRUE(link.up());
  world.Advance(milliseconds(1));
  EXPECT_FALSE(link.up());
}

TEST_F(LinkTest, APauseOfTheNodeItselfIsNotTheSilenceOfItsPeer) {
  link.Start();
  (void)Welcome();
  world.Advance(milliseconds(4'500));
  world.Pause(seconds(60));
  EXPECT_TRUE(link.up());
  world.Advance(seconds(4));
  EXPECT_TRUE(link.up());
  world.Advance(seconds(2));
  EXPECT_FALSE(link.up()) << "a peer that is silent after the pause as before is found";
}

TEST_F(LinkTest, BacksOffLongerEachTimeWithinItsJitter) {
  link.Start();
  double wanted_ms = 20;
  for (std::size_t tries = 1; tries < 12; ++tries) {
    ASSERT_EQ(world.transport.connects.size(), tries);
    (void)world.transport.Lose(world.transport.connects.back().first);
    world.Advance(std::chrono::microseconds(static_cast<std::int64_t>(wanted_ms * 749)));
    EXPECT_EQ(world.transport.connects.size(), tries) << "too early";
    world.Advance(std::chrono::microseconds(static_cast<std::int64_t>(wanted_ms * 502)));
    wanted_ms = std::min(wanted_ms * 2, 1000.0);
  }
  EXPECT_EQ(diary.downs.size(), 0U) << "a link that was never up does not go down";
}

TEST_F(LinkTest, GivesUpAfterItsTimeAndSaysWhom) {
  link.Start();
  while (diary.failed.empty() && world.clock.now < TimePoint(seconds(1100))) {
    if (world.transport.open() > 0)
      (void)world.transport.Lose(world.transport.connects.back().first, Unavailable("connection refused"));
    world.Advance(milliseconds(5));
  }
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_EQ(diary.failed[0].code(), StatusCode::kUnavailable);
  EXPECT_EQ(diary.failed[0].message(),
            "no answer from server 1 shard 0 at 127.0.0.1:9 for 30.0 s: connection refused; is it running?");
  const std::size_t tries = world.transport.connects.size();
  world.Advance(seconds(60));
  EXPECT_EQ(world.transport.connects.size(), tries);
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(LinkTest, APeerThatAcceptsAndSaysNothingIsGivenUpToo) {
  link.Start();
  world.transport.CompleteConnect();
  world.Advance(milliseconds(1'999));
  EXPECT_EQ(world.transport.open(), 1U);
  world.Advance(milliseconds(1));
  EXPECT_EQ(world.transport.open(), 0U);
  world.Advance(seconds(40));
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_THAT(diary.failed[0].message(), HasSubstr("for 30.0 s"));
}

TEST_F(LinkTest, TheTimeBeforeGivingUpStartsAgainAfterBeingUp) {
  link.Start();
  const ConnectionId id = Welcome();
  for (int i = 0; i < 20; ++i) {
    world.Advance(seconds(5));
    ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPong, {}).ok());
  }
  (void)world.transport.Lose(id);
  world.Advance(seconds(29));
  EXPECT_TRUE(diary.failed.empty());
  world.Advance(seconds(1));
  EXPECT_EQ(diary.failed.size(), 1U);
}

TEST_F(LinkTest, AnAddressThatIsNotKnownYetIsAskedForAgain) {
  address = NotFound("no file /x");
  link.Start();
  EXPECT_TRUE(world.transport.connects.empty());
  address = std::string("127.0.0.1:11");
  world.Advance(milliseconds(30));
  ASSERT_EQ(world.transport.connects.size(), 1U);
  EXPECT_EQ(world.transport.connects[0].second, "127.0.0.1:11");
}

TEST_F(LinkTest, ARefusalIsFinalAndKeepsItsCode) {
  link.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  wire::pb::Welcome refusal;
  refusal.set_error("rank 1 is taken");
  refusal.set_error_code(static_cast<std::uint32_t>(StatusCode::kAlreadyExists));
  ASSERT_TRUE(testing::Welcome(world.transport, id, refusal, kSecret).ok());
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_EQ(diary.failed[0].code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(diary.failed[0].message(), "rank 1 is taken");
  EXPECT_EQ(diary.ups, 0);
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(LinkTest, APortThatIsAnotherJobsByNowIsAskedAgain) {
  wire::pb::Welcome refusal;
  refusal.set_error("this node belongs to another job");
  refusal.set_error_code(static_cast<std::uint32_t>(StatusCode::kInvalidArgument));
  link.Start();
  (void)world.transport.Lose(Welcome());
  world.Advance(seconds(1));
  const ConnectionId id = world.transport.CompleteConnect();
  ASSERT_TRUE(world.transport.DeliverControl(id, wire::Kind::kWelcome, refusal).ok());
  EXPECT_TRUE(diary.failed.empty()) << "its peer may be back elsewhere";
  address = std::string("127.0.0.1:11");
  world.Advance(seconds(2));
  EXPECT_EQ(world.transport.connects.back().second, "127.0.0.1:11");
  (void)Welcome();
  EXPECT_EQ(diary.ups, 2);
}

TEST_F(LinkTest, AVersionThatWasNotOfferedIsAnError) {
  link.Start();
  Welcome(wire::kVersionMax + 1);
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_THAT(diary.failed[0].message(), HasSubstr("chose protocol version 6, wanted one of 5-5"));
}

TEST_F(LinkTest, AGoodbyeWithAReasonIsFinalOneWithoutIsNot) {
  link.Start();
  ConnectionId id = Welcome();
  ASSERT_TRUE(world.transport.DeliverControl(id, wire::Kind::kGoodbye, wire::pb::Goodbye()).ok());
  EXPECT_EQ(diary.downs.size(), 1U);
  world.Advance(milliseconds(30));
  id = Welcome();
  EXPECT_EQ(diary.ups, 2);
  wire::pb::Goodbye goodbye;
  goodbye.set_code(static_cast<std::uint32_t>(StatusCode::kFenced));
  goodbye.set_message("declared dead");
  ASSERT_TRUE(world.transport.DeliverControl(id, wire::Kind::kGoodbye, goodbye).ok());
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_EQ(diary.failed[0].code(), StatusCode::kFenced);
  EXPECT_EQ(diary.downs.size(), 1U);
}

TEST_F(LinkTest, AFrameBeforeTheWelcomeBreaksTheProtocol) {
  link.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  ASSERT_TRUE(world.transport.DeliverControl(id, wire::Kind::kRoster, wire::pb::Roster()).ok());
  EXPECT_TRUE(diary.frames.empty());
  EXPECT_FALSE(world.transport.IsOpen(id));
}

TEST_F(LinkTest, ProvesTheSecretOnlyToOneThatHasProvenIt) {
  link.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  (void)world.transport.TakeSent(id);
  ASSERT_TRUE(Challenge(world.transport, id, "the secret of that job, 32 bytes").ok());
  EXPECT_TRUE(world.transport.sent.empty()) << "an impostor gets no proof";
  EXPECT_FALSE(world.transport.IsOpen(id));
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_EQ(diary.failed[0].code(), StatusCode::kInvalidArgument) << "it is permanent";
  EXPECT_THAT(diary.failed[0].message(),
              HasSubstr("server 1 shard 0 at 127.0.0.1:9 did not prove that it knows the job's secret"));
  EXPECT_THAT(diary.failed[0].message(), HasSubstr("--secret-file (LEEWAY_SECRET_FILE)"));
}

TEST_F(LinkTest, WillNotTalkToANodeWithoutASecret) {
  link.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  ASSERT_TRUE(Challenge(world.transport, id, "").ok());
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_THAT(diary.failed[0].message(),
              HasSubstr("it was started with --insecure, and this process has a secret"));
}

TEST_F(LinkTest, WithoutASecretItIsToldWhatIsMissing) {
  Link insecure{world.env, LinkOptions{}, [this] { return address; }, 0, "scheduler", diary};
  insecure.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  ASSERT_TRUE(Challenge(world.transport, id, kSecret).ok());
  ASSERT_EQ(diary.failed.size(), 1U);
  EXPECT_THAT(diary.failed[0].message(), HasSubstr("it has one, and this process has none"));
}

TEST_F(LinkTest, TwoNodesWithoutASecretTakeEachOther) {
  Link insecure{world.env, LinkOptions{}, [this] { return address; }, 0, "scheduler", diary};
  insecure.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  wire::pb::Welcome welcome;
  welcome.set_version(wire::kVersionMax);
  ASSERT_TRUE(testing::Welcome(world.transport, id, welcome, "").ok());
  EXPECT_TRUE(insecure.up());
}

// Its port may be anybody's by now.
TEST_F(LinkTest, AnImpostorAtTheAddressOfALostPeerDoesNotEndTheNode) {
  link.Start();
  (void)world.transport.Lose(Welcome());
  wire::pb::Welcome refusal;
  refusal.set_error("go away");
  refusal.set_error_code(static_cast<std::uint32_t>(StatusCode::kFenced));
  wire::pb::Goodbye goodbye;
  goodbye.set_code(static_cast<std::uint32_t>(StatusCode::kFenced));
  wire::pb::Welcome welcome;
  welcome.set_version(wire::kVersionMax);
  const std::vector<std::function<void(ConnectionId)>> lies = {
      [&](ConnectionId id) { (void)Challenge(world.transport, id, "no idea"); },
      [&](ConnectionId id) { (void)world.transport.DeliverControl(id, wire::Kind::kWelcome, refusal); },
      [&](ConnectionId id) { (void)world.transport.DeliverControl(id, wire::Kind::kWelcome, welcome); },
      [&](ConnectionId id) { (void)world.transport.DeliverControl(id, wire::Kind::kGoodbye, goodbye); }};
  for (const auto& lie : lies) {
    world.Advance(seconds(1));
    const ConnectionId id = world.transport.CompleteConnect();
    lie(id);
    EXPECT_FALSE(world.transport.IsOpen(id));
    EXPECT_EQ(diary.ups, 1);
    EXPECT_TRUE(diary.failed.empty());
    EXPECT_TRUE(world.transport.TakeSent(id, wire::Kind::kProof).empty());
  }
  world.Advance(seconds(1));
  (void)Welcome();
  EXPECT_EQ(diary.ups, 2) << "its own peer is back";
}

TEST_F(LinkTest, OneToldThatItsSecretIsRightWaitsForItsPeerFromTheFirst) {
  link.TrustSecret();
  link.Start();
  const ConnectionId id = world.transport.CompleteConnect();
  ASSERT_TRUE(Challenge(world.transport, id, "no idea").ok());
  EXPECT_TRUE(diary.failed.empty());
  world.Advance(seconds(31));
  ASSERT_EQ(diary.failed.size(), 1U) << "for as long as for one that is not there";
}

TEST_F(LinkTest, EveryHelloHasANonceOfItsOwn) {
  link.Start();
  const ConnectionId first = Welcome();
  (void)world.transport.Lose(first);
  world.Advance(seconds(1));
  const ConnectionId second = Welcome();
  EXPECT_NE(world.transport.hellos[first], world.transport.hellos[second]);
}

TEST_F(LinkTest, StopSaysGoodbyeAndNothingFollows) {
  link.Start();
  const ConnectionId id = Welcome();
  link.Stop(Cancelled("asked to"));
  const auto goodbyes = world.transport.TakeSent(id, wire::Kind::kGoodbye);
  ASSERT_EQ(goodbyes.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::Goodbye>(goodbyes[0]).code(),
            static_cast<std::uint32_t>(StatusCode::kCancelled));
  EXPECT_EQ(world.transport.open(), 0U);
  EXPECT_EQ(world.timers.pending(), 0U);
  world.Advance(seconds(60));
  EXPECT_TRUE(diary.downs.empty() && diary.failed.empty());
}

}  // namespace
}  // namespace leeway
