#include "node/inbound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/handshake.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeEnv;
using ::testing::HasSubstr;
using testing::ParseAs;
using testing::SentFrame;

class InboundDiary final : public InboundEvents {
 public:
  Result<wire::pb::Welcome> OnHello(ConnectionId, const wire::pb::Hello& hello) override {
    hellos.push_back(hello);
    if (!refuse_with.ok()) return refuse_with;
    wire::pb::Welcome welcome;
    welcome.set_id(5);
    return welcome;
  }
  void OnWelcomed(ConnectionId id) override { welcomed.push_back(id); }
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Protocol("no payload is wanted");
  }
  Status OnFrame(ConnectionId, const FrameHead& head, std::span<const std::byte>, Landing&&) override {
    frames.push_back(static_cast<wire::Kind>(head.kind));
    return answer_frames_with;
  }
  void OnGone(ConnectionId id, Parting how, const Status& why) override { gone.push_back({id, how, why}); }

  struct Gone {
    ConnectionId id;
    Parting how;
    Status why;
  };
  Status refuse_with, answer_frames_with;
  std::vector<wire::pb::Hello> hellos;
  std::vector<ConnectionId> welcomed;
  std::vector<wire::Kind> frames;
  std::vector<Gone> gone;
};

class InboundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> bound = inbound.Listen("127.0.0.1:0");
    ASSERT_TRUE(bound.ok());
    EXPECT_EQ(*bound, "127.0.0.1:4000");
  }
  static wire::pb::Hello WorkerHello() {
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job("j");
    hello.set_role(wire::pb::ROLE_WORKER);
    hello.set_life(9);
    return hello;
  }
  ConnectionId Connect() {
    const ConnectionId id = world.transport.Accept();
    EXPECT_TRUE(SayHello(world.transport, id, WorkerHello(), kSecret).ok());
    (void)world.transport.TakeSent(id);
    return id;
  }
  // Says hello and returns the welcome that refused it.
  wire::pb::Welcome Refused(const wire::pb::Hello& hello, std::string_view secret = kSecret) {
    const ConnectionId id = world.transport.Accept();
    (void)SayHello(world.transport, id, hello, secret);
    return RefusalOf(id);
  }
  wire::pb::Welcome RefusalOf(ConnectionId id) {
    EXPECT_FALSE(world.transport.IsOpen(id));
    EXPECT_EQ(inbound.half_open(), 0U);
    const auto sent = world.transport.TakeSent(id);
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? wire::pb::Welcome() : ParseAs<wire::pb::Welcome>(sent[0]);
  }

  // A hello that is answered with a challenge, and what the test knows of the connection then.
  struct Challenged {
    ConnectionId id;
    Greeting greeting;
    wire::pb::Challenge challenge;
  };
  Challenged SayHelloOnly(const wire::pb::Hello& said = WorkerHello()) {
    Challenged at;
    at.id = world.transport.Accept();
    wire::pb::Hello hello = said;
    at.greeting.connector.fill(std::byte{0x41});
    hello.set_nonce(std::string(AsText(at.greeting.connector)));
    at.greeting.hello = ControlBody(hello);
    EXPECT_TRUE(world.transport.Deliver(at.id, wire::Kind::kHello, at.greeting.hello).ok());
    const auto sent = world.transport.TakeSent(at.id);
    EXPECT_EQ(sent.size(), 1U);
    if (sent.empty()) return at;
    EXPECT_EQ(sent[0].kind, wire::Kind::kChallenge);
    at.challenge = ParseAs<wire::pb::Challenge>(sent[0]);
    EXPECT_TRUE(TakeNonce(at.challenge.nonce(), at.greeting.listener));
    return at;
  }
  void SendProof(ConnectionId id, std::string_view bytes) {
    wire::pb::Proof proof;
    proof.set_proof(std::string(bytes));
    (void)world.transport.DeliverControl(id, wire::Kind::kProof, proof);
  }
  void ExpectRefusedForItsProof(ConnectionId id) {
    const wire::pb::Welcome refusal = RefusalOf(id);
    EXPECT_THAT(refusal.error(), HasSubstr("did not accept the proof of the job's secret"));
    EXPECT_THAT(refusal.error(), HasSubstr("--secret-file"));
    EXPECT_EQ(refusal.error_code(), static_cast<std::uint32_t>(StatusCode::kInvalidArgument));
    EXPECT_FALSE(refusal.has_job() || refusal.id() != 0 || refusal.epoch() != 0 ||
                 !refusal.host_key().empty());
    EXPECT_TRUE(diary.hellos.empty()) << "the node never hears of it";
  }

  static constexpr std::string_view kSecret = "the secret of this job, 32 bytes";
  FakeEnv world;
  InboundDiary diary;
  LinkOptions options = WithSecret();
  static LinkOptions WithSecret() {
    LinkOptions with;
    with.secret = kSecret;
    return with;
  }
  Inbound inbound{world.env, options, "j", diary};
};

TEST_F(InboundTest, WelcomesAPeerAndLiftsItsLimits) {
  const ConnectionId id = world.transport.Accept();
  EXPECT_EQ(inbound.half_open(), 1U);
  ASSERT_TRUE(SayHello(world.transport, id, WorkerHello(), kSecret).ok());
  const auto sent = world.transport.TakeSent(id);
  ASSERT_EQ(sent.size(), 1U);
  const auto welcome = ParseAs<wire::pb::Welcome>(sent[0]);
  EXPECT_EQ(welcome.version(), wire::kVersionMax);
  EXPECT_EQ(welcome.id(), 5U);
  EXPECT_TRUE(welcome.error().empty());
  EXPECT_EQ(diary.welcomed, std::vector{id});
  EXPECT_EQ(inbound.half_open(), 0U);
  EXPECT_EQ(world.transport.limits(id).payload_bytes_max, options.payload_bytes_max);
}

TEST_F(InboundTest, RefusesAnotherVersionNamingBothRanges) {
  wire::pb::Hello hello = WorkerHello();
  hello.set_version_min(7);
  hello.set_version_max(9);
  const wire::pb::Welcome refusal = Refused(hello);
  EXPECT_EQ(refusal.error(), "no common protocol version: you speak 7-9, this node speaks 5-5");
  EXPECT_EQ(refusal.error_code(), static_cast<std::uint32_t>(StatusCode::kProtocol));
  EXPECT_TRUE(diary.hellos.empty());
}

TEST_F(InboundTest, RefusesAnotherJobAndNoRole) {
  wire::pb::Hello hello = WorkerHello();
  hello.set_job("other");
  EXPECT_EQ(Refused(hello).error(), "this node belongs to another job: got job \"other\", wanted \"j\"");
  hello = WorkerHello();
  hello.set_role(wire::pb::ROLE_SCHEDULER);
  EXPECT_THAT(Refused(hello).error(), HasSubstr("role 1, wanted server, worker or monitor"));
  EXPECT_TRUE(diary.hellos.empty());
}

TEST_F(InboundTest, AMonitorNeedNotKnowTheJob) {
  wire::pb::Hello hello = WorkerHello();
  hello.set_role(wire::pb::ROLE_MONITOR);
  hello.set_job("");
  const ConnectionId id = world.transport.Accept();
  ASSERT_TRUE(SayHello(world.transport, id, hello, kSecret).ok());
  EXPECT_EQ(diary.welcomed.size(), 1U);
}

TEST_F(InboundTest, PassesOnTheNodesRefusal) {
  diary.refuse_with = Fenced("declared dead");
  const wire::pb::Welcome refusal = Refused(WorkerHello());
  EXPECT_EQ(refusal.error(), "declared dead");
  EXPECT_EQ(refusal.error_code(), static_cast<std::uint32_t>(StatusCode::kFenced));
  EXPECT_TRUE(diary.gone.empty());
}

TEST_F(InboundTest, TheFirstFrameMustBeAHello) {
  const ConnectionId id = world.transport.Accept();
  (void)world.transport.DeliverControl(id, wire::Kind::kLeave, wire::pb::Leave());
  EXPECT_FALSE(world.transport.IsOpen(id));
  const auto sent = world.transport.TakeSent(id);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_THAT(ParseAs<wire::pb::Welcome>(sent[0]).error(), HasSubstr("wanted Hello"));
  EXPECT_TRUE(diary.frames.empty());
}

TEST_F(InboundTest, APeerThatSaysNothingIsClosedInTime) {
  const ConnectionId id = world.transport.Accept();
  world.Advance(milliseconds(1'999));
  EXPECT_TRUE(world.transport.IsOpen(id));
  world.Advance(milliseconds(1));
  EXPECT_FALSE(world.transport.IsOpen(id));
  EXPECT_EQ(inbound.half_open(), 0U);
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(InboundTest, HalfOpenConnectionsAreBounded) {
  std::vector<ConnectionId> ids;
  for (int i = 0; i < 256; ++i) ids.push_back(world.transport.Accept());
  EXPECT_TRUE(world.transport.IsOpen(ids.back()));
  EXPECT_FALSE(world.transport.IsOpen(world.transport.Accept()));
  (void)SayHello(world.transport, ids[0], WorkerHello(), kSecret);
  EXPECT_TRUE(world.transport.IsOpen(world.transport.Accept())) << "a hello makes room";
}

TEST_F(InboundTest, PingsASilentPeerAndCutsItOffInTheEnd) {
  const ConnectionId id = Connect();
  world.Advance(seconds(9));
  EXPECT_GE(world.transport.TakeSent(id, wire::Kind::kPing).size(), 4U);
  EXPECT_TRUE(diary.gone.empty());
  world.Advance(seconds(1));
  ASSERT_EQ(diary.gone.size(), 1U);
  EXPECT_EQ(diary.gone[0].how, Parting::kLost);
  EXPECT_THAT(diary.gone[0].why.message(), HasSubstr("silent for 10.0 s"));
  EXPECT_TRUE(world.transport.TakeSent(id, wire::Kind::kGoodbye).empty()) << "it may come back";
  world.Advance(seconds(5));
  EXPECT_EQ(world.timers.pending(), 0U) << "without peers there is no beat";
}

TEST_F(InboundTest, ALongFrameIsHeardOfWhileItArrives) {
  const ConnectionId id = Connect();
  for (int i = 0; i < 5; ++i) {
    world.Advance(seconds(8));
    world.transport.received[id] = world.clock.now;
    EXPECT_EQ(inbound.last_heard(id), world.clock.now);
  }
  EXPECT_TRUE(diary.gone.empty());
  world.Advance(seconds(11));
  EXPECT_EQ(diary.gone.size(), 1U);
}

TEST_F(InboundTest, APauseOfTheNodeItselfIsNotTheSilenceOfItsPeers) {
  (void)Connect();
  world.Advance(milliseconds(4'500));
  world.Pause(seconds(60));
  world.Advance(seconds(4));
  EXPECT_TRUE(diary.gone.empty());
  world.Advance(seconds(3));
  EXPECT_EQ(diary.gone.size(), 1U) << "a peer that is silent after the pause as before is found";
}

TEST_F(InboundTest, AnswersAPingAndHearsIt) {
  const ConnectionId id = Connect();
  world.Advance(milliseconds(400));
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPing, {}).ok());
  EXPECT_EQ(world.transport.TakeSent(id, wire::Kind::kPong).size(), 1U);
  EXPECT_EQ(inbound.last_heard(id), world.clock.now);
}

TEST_F(InboundTest, AGoodbyeIsPassedOnWithItsReason) {
  const ConnectionId well = Connect();
  (void)world.transport.DeliverControl(well, wire::Kind::kGoodbye, wire::pb::Goodbye());
  const ConnectionId ill = Connect();
  wire::pb::Goodbye goodbye;
  goodbye.set_code(static_cast<std::uint32_t>(StatusCode::kUnavailable));
  goodbye.set_message("no server");
  (void)world.transport.DeliverControl(ill, wire::Kind::kGoodbye, goodbye);
  ASSERT_EQ(diary.gone.size(), 2U);
  EXPECT_EQ(diary.gone[0].how, Parting::kGoodbye);
  EXPECT_TRUE(diary.gone[0].why.ok());
  EXPECT_EQ(diary.gone[1].how, Parting::kGoodbye);
  EXPECT_EQ(diary.gone[1].why.ToString(), Unavailable("no server").ToString());
}

TEST_F(InboundTest, ABrokenProtocolIsToldAndCutOff) {
  const ConnectionId id = Connect();
  diary.answer_frames_with = Protocol("not like that");
  (void)world.transport.DeliverControl(id, wire::Kind::kLeave, wire::pb::Leave());
  const auto sent = world.transport.TakeSent(id, wire::Kind::kGoodbye);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::Goodbye>(sent[0]).message(), "not like that");
  ASSERT_EQ(diary.gone.size(), 1U);
  EXPECT_EQ(diary.gone[0].how, Parting::kCutOff);
}

TEST_F(InboundTest, ARefusedPayloadIsDrainedSoThatThePeerHearsWhy) {
  const ConnectionId id = Connect();
  const std::vector<std::byte> payload(200'000);
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPush, {}, payload).ok());
  EXPECT_TRUE(diary.frames.empty());
  const auto sent = world.transport.TakeSent(id, wire::Kind::kGoodbye);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::Goodbye>(sent[0]).message(), "no payload is wanted");
  EXPECT_FALSE(world.transport.IsOpen(id));
  ASSERT_EQ(diary.gone.size(), 1U);
}

TEST_F(InboundTest, AnOversizedFrameCutsOffOnlyItsSender) {
  const ConnectionId bad = Connect();
  const ConnectionId good = Connect();
  const std::vector<std::byte> body(options.body_bytes_max + 1);
  EXPECT_FALSE(world.transport.Deliver(bad, wire::Kind::kReport, body).ok());
  ASSERT_EQ(diary.gone.size(), 1U);
  EXPECT_EQ(diary.gone[0].id, bad);
  EXPECT_EQ(diary.gone[0].how, Parting::kCutOff);
  (void)world.transport.DeliverControl(good, wire::Kind::kLeave, wire::pb::Leave());
  EXPECT_EQ(diary.frames.size(), 1U);
}

TEST_F(InboundTest, ASecondHelloBreaksTheProtocol) {
  const ConnectionId id = Connect();
  (void)world.transport.DeliverControl(id, wire::Kind::kHello, WorkerHello());
  EXPECT_FALSE(world.transport.IsOpen(id));
  EXPECT_EQ(diary.hellos.size(), 1U);
}

TEST_F(InboundTest, CloseSaysGoodbyeAndIsNotReported) {
  const ConnectionId id = Connect();
  inbound.Close(id, Fenced("replaced"));
  EXPECT_EQ(world.transport.TakeSent(id, wire::Kind::kGoodbye).size(), 1U);
  EXPECT_FALSE(world.transport.IsOpen(id));
  EXPECT_TRUE(diary.gone.empty());
}

TEST_F(InboundTest, AfterCloseAllNobodyGetsIn) {
  const ConnectionId id = Connect();
  const ConnectionId half = world.transport.Accept();
  inbound.CloseAll(Status::Ok());
  EXPECT_FALSE(world.transport.IsOpen(id));
  EXPECT_FALSE(world.transport.IsOpen(half));
  EXPECT_FALSE(world.transport.IsOpen(world.transport.Accept()));
  EXPECT_TRUE(diary.gone.empty());
}

TEST_F(InboundTest, TellsNothingBeforeTheProof) {
  world.transport.host = "this host";
  const Challenged at = SayHelloOnly();
  EXPECT_TRUE(IsProof(at.challenge.proof(), kSecret, ProofSide::kListener, at.greeting))
      << "it proves itself first";
  EXPECT_EQ(inbound.half_open(), 1U);
  EXPECT_TRUE(diary.hellos.empty() && diary.welcomed.empty());
  EXPECT_EQ(world.transport.limits(at.id).payload_bytes_max, 0U);
  SendProof(at.id, AsText(Prove(kSecret, ProofSide::kConnector, at.greeting)));
  EXPECT_EQ(diary.welcomed.size(), 1U);
}

TEST_F(InboundTest, AnotherJobIsNamedOnlyToThoseWhoKnowTheSecret) {
  wire::pb::Hello hello = WorkerHello();
  hello.set_job("other");
  EXPECT_THAT(Refused(hello).error(), HasSubstr("wanted \"j\""));
  EXPECT_THAT(Refused(hello, "the secret of that job, 32 bytes").error(),
              HasSubstr("proof of the job's secret"));
}

TEST_F(InboundTest, RefusesProofsThatAreNone) {
  for (const std::string& bytes : {std::string(), std::string(kProofBytes, '\0'), std::string(4000, 'x')}) {
    const Challenged at = SayHelloOnly();
    SendProof(at.id, bytes);
    ExpectRefusedForItsProof(at.id);
  }
  const Challenged cut = SayHelloOnly();
  const ProofBytes whole = Prove(kSecret, ProofSide::kConnector, cut.greeting);
  SendProof(cut.id, AsText(whole).substr(0, 31));
  ExpectRefusedForItsProof(cut.id);
}

TEST_F(InboundTest, RefusesTheProofOfAnotherSecretAndOfNone) {
  for (const std::string_view secret :
       {std::string_view("the secret of that job, 32 bytes"), std::string_view()}) {
    const Challenged at = SayHelloOnly();
    SendProof(at.id, AsText(Prove(secret, ProofSide::kConnector, at.greeting)));
    ExpectRefusedForItsProof(at.id);
  }
}

TEST_F(InboundTest, RefusesItsOwnProofSentBack) {
  const Challenged at = SayHelloOnly();
  SendProof(at.id, at.challenge.proof());
  ExpectRefusedForItsProof(at.id);
}

TEST_F(InboundTest, RefusesAProofForAnotherHelloAndOneOfAnEarlierConnection) {
  const Challenged at = SayHelloOnly();
  Greeting changed = at.greeting;
  wire::pb::Hello victim = WorkerHello();
  victim.set_rank(3);
  changed.hello = ControlBody(victim);
  SendProof(at.id, AsText(Prove(kSecret, ProofSide::kConnector, changed)));
  ExpectRefusedForItsProof(at.id);

  const Challenged again = SayHelloOnly();
  EXPECT_NE(again.challenge.nonce(), at.challenge.nonce());
  SendProof(again.id, AsText(Prove(kSecret, ProofSide::kConnector, at.greeting)));
  ExpectRefusedForItsProof(again.id);
}

TEST_F(InboundTest, AHelloWithoutANonceIsToldWhatIsMissing) {
  const ConnectionId id = world.transport.Accept();
  (void)world.transport.DeliverControl(id, wire::Kind::kHello, WorkerHello());
  const wire::pb::Welcome refusal = RefusalOf(id);
  EXPECT_THAT(refusal.error(), HasSubstr("hello with a nonce of 0 bytes, wanted 16"));
  EXPECT_EQ(refusal.error_code(), static_cast<std::uint32_t>(StatusCode::kProtocol));
}

TEST_F(InboundTest, WhatComesInsteadOfAProofIsRefused) {
  const Challenged at = SayHelloOnly();
  (void)world.transport.DeliverControl(at.id, wire::Kind::kHello, WorkerHello());
  EXPECT_THAT(RefusalOf(at.id).error(), HasSubstr("the second frame was Hello, wanted Proof"));
  const ConnectionId second = Connect();
  SendProof(second, "once more");
  EXPECT_FALSE(world.transport.IsOpen(second)) << "a proof after the welcome breaks the protocol";
}

TEST_F(InboundTest, APeerThatNeverProvesAnythingIsClosedInTime) {
  const Challenged at = SayHelloOnly();
  world.Advance(milliseconds(2'000));
  EXPECT_FALSE(world.transport.IsOpen(at.id));
  EXPECT_EQ(inbound.half_open(), 0U);
  ASSERT_FALSE(world.log.lines.empty());
  EXPECT_THAT(world.log.lines.back(), HasSubstr("did not prove the job's secret within 2.0 s"));
}

TEST_F(InboundTest, StrangersAreRefusedAtOnceWhileOthersWaitForTheLog) {
  inbound.Hold([] {});
  const Challenged at = SayHelloOnly();
  SendProof(at.id, "no proof");
  ExpectRefusedForItsProof(at.id);
  EXPECT_EQ(inbound.last_held(), 0U) << "nothing is kept for a stranger";
}

TEST_F(InboundTest, ALongRefusalStillFitsTheLimitsBeforeTheHello) {
  diary.refuse_with = InvalidArgument("{}", std::string(10'000, 'x'));
  EXPECT_LT(Refused(WorkerHello()).ByteSizeLong(), FrameLimits{}.body_bytes_max);
}

}  // namespace
}  // namespace leeway
