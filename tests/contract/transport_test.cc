// The contract of every transport, run on each of them (transport_worlds.def): frames, payloads, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "transport_contract.h"
#include "wire/frame.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

TEST_P(TransportContract, FramesOfAllSizesArriveWholeAndInOrder) {
  Join();
  const std::vector<std::size_t> sizes = {0,      1,       15,      4095, 4096, 4097,
                                          65'536, 1 << 20, 5 << 20, 3,    0,    300'000};
  std::vector<Text> payloads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    payloads.push_back(Lend(Pattern(sizes[i], static_cast<unsigned>(i))));
    client_.Send(to_server_, static_cast<std::uint8_t>(i + 1), "body " + std::to_string(i),
                 {PinnedText(payloads.back())});
  }
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == sizes.size(); }));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(server_.frames[i].kind, i + 1);
    EXPECT_EQ(server_.frames[i].body, "body " + std::to_string(i));
    EXPECT_TRUE(server_.frames[i].payload == *payloads[i]) << "payload of " << sizes[i] << " bytes";
  }
  EXPECT_EQ(server_.frame_starts, 10) << "frames without a payload need no landing";
  EXPECT_EQ(server_.leases, 0);
}

TEST_P(TransportContract, APayloadOfSeveralPiecesFillsSeveralPlaces) {
  Join();
  server_.places = {1, 0, 7, 4096, 100'000, 3};
  std::vector<Text> pieces;
  std::string whole;
  std::vector<Pinned> payload;
  for (const std::size_t size : {5, 60'000, 0, 4095, 1, 1'000'000}) {
    pieces.push_back(Lend(Pattern(size, static_cast<unsigned>(size))));
    payload.push_back(PinnedText(pieces.back()));
    whole += *pieces.back();
  }
  for (int i = 0; i < 3; ++i) client_.Send(to_server_, 9, "b", payload);
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 3; }));
  for (const ReceivedFrame& frame : server_.frames) EXPECT_TRUE(frame.payload == whole);
}

TEST_P(TransportContract, WhatIsReadableMayBeReadWhereItIs) {
  Join();
  server_.reads_in_place = true;
  std::vector<Text> payloads;
  const std::vector<std::size_t> sizes = {1, 63, 1023, 1024, 5000, 16'384, 16'385, 70'000, 1 << 20};
  for (int round = 0; round < 20; ++round) {
    for (const std::size_t size : sizes) {
      payloads.push_back(Lend(Pattern(size, static_cast<unsigned>(payloads.size()))));
      client_.Send(to_server_, 5, std::string(size % 7, 'b'), {PinnedText(payloads.back())});
    }
  }
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == payloads.size(); }));
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(server_.frames[i].body.size(), sizes[i % sizes.size()] % 7);
    EXPECT_TRUE(server_.frames[i].payload == *payloads[i])
        << "payload of " << payloads[i]->size() << " bytes";
  }
  EXPECT_GT(server_.read_in_place, 0U);
}

TEST_P(TransportContract, ManySmallFramesArriveInOrder) {
  Join();
  constexpr int kFrames = 20'000;
  const Text tiny = Lend("tiny");
  for (int i = 0; i < kFrames; ++i) client_.Send(to_server_, 1, std::to_string(i), {PinnedText(tiny)});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == kFrames; }));
  for (int i = 0; i < kFrames; ++i) ASSERT_EQ(server_.frames[i].body, std::to_string(i));
}

TEST_P(TransportContract, TwoPeersWithFullBuffersDoNotWaitForEachOther) {
  Join();
  constexpr int kFrames = 40;
  const Text megabyte = Lend(Pattern(1 << 20, 7));
  for (int i = 0; i < kFrames; ++i) {
    client_.Send(to_server_, 1, "", {PinnedText(megabyte)});
    server_.Send(to_client_, 2, "", {PinnedText(megabyte)});
  }
  ASSERT_TRUE(
      world_->RunUntil([&] { return server_.frames.size() == kFrames && client_.frames.size() == kFrames; }));
  EXPECT_TRUE(client_.frames.back().payload == *megabyte);
  EXPECT_TRUE(server_.frames.back().payload == *megabyte);
}

TEST_P(TransportContract, EchoesGoBackAndForth) {
  Join();
  server_.on_frame = [&](const ReceivedFrame& frame) { server_.Send(frame.id, frame.kind, frame.body); };
  client_.on_frame = [&](const ReceivedFrame& frame) {
    if (frame.body.size() < 200) client_.Send(frame.id, frame.kind, frame.body + "x");
  };
  client_.Send(to_server_, 5, "x");
  ASSERT_TRUE(world_->RunUntil([&] { return client_.frames.size() == 200; }));
  EXPECT_EQ(client_.frames.back().body, std::string(200, 'x'));
}

TEST_P(TransportContract, WhatIsQueuedBeforeTheConnectionIsUpIsSent) {
  const ConnectionId id = client_.Connect(address_);
  client_.Send(id, 1, "early");
  ASSERT_TRUE(world_->RunUntil([&] { return !server_.frames.empty(); }));
  EXPECT_EQ(server_.frames[0].body, "early");
}

TEST_P(TransportContract, CloseInsideOnFrameIsTheEndOfIt) {
  Join();
  for (int i = 0; i < 100; ++i) client_.Send(to_server_, 1, std::to_string(i));
  server_.on_frame = [&](const ReceivedFrame& frame) {
    if (frame.body == "41") server_.Close(frame.id);
  };
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(to_server_) > 0; }));
  EXPECT_EQ(server_.frames.size(), 42U);
  EXPECT_EQ(client_.closed.at(to_server_).code(), StatusCode::kUnavailable);
}

TEST_P(TransportContract, CloseInsideOnFrameStartIsTheEndOfIt) {
  Join();
  server_.on_frame_start = [&](ConnectionId id) { server_.Close(id); };
  const Text large = Lend(Pattern(200'000, 3));
  client_.Send(to_server_, 1, "", {PinnedText(large)});
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(to_server_) > 0; }));
  world_->RunFor(std::chrono::milliseconds(20));
  EXPECT_TRUE(server_.frames.empty());
  EXPECT_EQ(server_.leases, 0);
}

TEST_P(TransportContract, AConnectionLostInsideAFrameEndsItsLease) {
  if (!world_->CutsFrames()) GTEST_SKIP() << "this world carries whole frames only";
  Join();
  const Text huge = LendOutside(Pattern(32 << 20, 1));
  client_.Send(to_server_, 1, "", {PinnedText(huge)});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frame_starts == 1; }));
  EXPECT_EQ(server_.leases, 1);
  client_.Close(to_server_);
  ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
  world_->RunFor(std::chrono::milliseconds(10));
  EXPECT_TRUE(server_.frames.empty());
  EXPECT_EQ(server_.leases, 0);
  EXPECT_EQ(huge.use_count(), 1) << "Close drops what was not sent";
  EXPECT_EQ(server_.closed.at(to_client_).code(), StatusCode::kUnavailable);
}

TEST_P(TransportContract, ANewConnectionHasSmallLimits) {
  struct Plain final : TransportEvents {
    void OnAccepted(ConnectionId, const std::string&) override {}
    void OnConnected(ConnectionId) override {}
    Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
      return Landing{};
    }
    void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override { ++frames; }
    void OnClosed(ConnectionId, const Status& status) override { why = status; }
    int frames = 0;
    Status why;
  };
  for (const bool payload : {false, true}) {
    Plain plain;
    const Result<std::string> address = world_->server().transport.Listen(world_->ListenAddress(), plain);
    ASSERT_TRUE(address.ok()) << address.status().ToString();
    const ConnectionId id = client_.Connect(*address);
    client_.Send(id, 1, std::string(4096, 'b'));
    const Text one = Lend("1");
    client_.Send(id, 1, std::string(payload ? 1 : 4097, 'b'),
                 payload ? std::vector{PinnedText(one)} : std::vector<Pinned>{});
    ASSERT_TRUE(world_->RunUntil([&] { return !plain.why.ok() && client_.closed.count(id) > 0; }));
    EXPECT_EQ(plain.frames, 1) << "a frame within the limits passes";
    EXPECT_EQ(plain.why.code(), StatusCode::kProtocol) << plain.why.ToString();
    EXPECT_THAT(plain.why.message(), HasSubstr(payload ? "payload of 1 bytes" : "body of 4097 bytes"));
  }
}

TEST_P(TransportContract, LimitsMayBeSetAtAnyTime) {
  Join();
  const Text large = Lend(Pattern(100'000, 1));
  client_.Send(to_server_, 1, "", {PinnedText(large)});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 1; }));
  world_->server().transport.SetLimits(to_client_, {.body_bytes_max = 10, .payload_bytes_max = 99'999});
  client_.Send(to_server_, 1, "0123456789");
  client_.Send(to_server_, 1, "", {PinnedText(large)});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
  EXPECT_EQ(server_.frames.size(), 2U);
  EXPECT_EQ(server_.closed.at(to_client_).code(), StatusCode::kProtocol);
  EXPECT_THAT(server_.closed.at(to_client_).message(), HasSubstr("at most 99999"));
}

TEST_P(TransportContract, ARefusedLandingClosesWithItsReason) {
  Join();
  server_.refuse_landing = Status(StatusCode::kResourceExhausted, "no room");
  client_.Send(to_server_, 1, "", {PinnedText(Lend("payload"))});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
  EXPECT_EQ(server_.closed.at(to_client_).code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(server_.closed.at(to_client_).message(), HasSubstr("no room"));
}

TEST_P(TransportContract, ALandingOfTheWrongSizeClosesAndIsGivenBack) {
  Join();
  server_.wrong_landing = true;
  client_.Send(to_server_, 1, "", {PinnedText(Lend("payload"))});
  ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
  world_->RunFor(std::chrono::milliseconds(10));
  EXPECT_TRUE(server_.frames.empty());
  EXPECT_EQ(server_.leases, 0);
}

TEST_P(TransportContract, MalformedBytesCloseAndHarmNobodyElse) {
  Join();
  auto header = wire::EncodeHeader({.kind = 1, .body_bytes = 0, .payload_bytes = 0});
  header[0] ^= std::byte{1};
  auto reserved = wire::EncodeHeader({.kind = 1, .body_bytes = 0, .payload_bytes = 0});
  reserved[3] = std::byte{1};
  const auto endless = wire::EncodeHeader({.kind = 1, .body_bytes = 0xFFFFFFFF, .payload_bytes = ~0ULL});
  for (const auto& bytes : {header, reserved, endless}) {
    const std::size_t before = server_.closed.size();
    const auto raw = world_->ConnectRaw(address_);
    if (raw == nullptr) GTEST_SKIP() << "this world carries frames only";
    raw->Write(bytes);
    ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.size() > before; }));
    EXPECT_EQ(server_.closed.at(server_.accepted.back()).code(), StatusCode::kProtocol);
  }
  EXPECT_EQ(server_.frame_starts, 0);
  client_.Send(to_server_, 1, "still here");
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 1; }));
}

TEST_P(TransportContract, APartOfAFrameCountsAsReceived) {
  const auto raw = world_->ConnectRaw(address_);
  if (raw == nullptr) GTEST_SKIP() << "this world carries frames only";
  const std::size_t accepted = server_.accepted.size();
  ASSERT_TRUE(world_->RunUntil([&] { return server_.accepted.size() > accepted; }));
  const Env& env = world_->server();
  const ConnectionId id = server_.accepted.back();
  EXPECT_EQ(env.transport.LastReceived(id), TimePoint::min());
  const auto header = wire::EncodeHeader({.kind = 3, .body_bytes = 4, .payload_bytes = 7});
  TimePoint last = TimePoint::min();
  for (const std::byte& byte : std::span(header).first(3)) {
    world_->RunFor(std::chrono::milliseconds(2));
    const TimePoint before = env.clock.Now();
    raw->Write(std::span(&byte, 1));
    ASSERT_TRUE(world_->RunUntil([&] { return env.transport.LastReceived(id) > last; }));
    last = env.transport.LastReceived(id);
    EXPECT_GE(last, before);
    EXPECT_LE(last, env.clock.Now());
  }
  server_.Close(id);
  EXPECT_EQ(env.transport.LastReceived(id), TimePoint::min());
}

TEST_P(TransportContract, BytesMayArriveOneByOneAndEndAnywhere) {
  const Text payload = Lend("payload");
  std::string bytes;
  const auto header = wire::EncodeHeader({.kind = 3, .body_bytes = 4, .payload_bytes = 7});
  bytes.append(reinterpret_cast<const char*>(header.data()), header.size());
  bytes += "body" + std::string(*payload);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    auto raw = world_->ConnectRaw(address_);
    if (raw == nullptr) GTEST_SKIP() << "this world carries frames only";
    const std::size_t accepted = server_.accepted.size();
    ASSERT_TRUE(world_->RunUntil([&] { return server_.accepted.size() > accepted; }));
    const std::size_t frames = server_.frames.size();
    for (const char& c : bytes) {
      raw->Write(std::as_bytes(std::span(&c, 1)));
      if (cut % 5 == 0) world_->RunFor(Duration(1));
    }
    ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() > frames; }));
    EXPECT_EQ(server_.frames.back().body, "body");
    EXPECT_EQ(server_.frames.back().payload, "payload");
    raw->Write(std::as_bytes(std::span(bytes)).first(cut));
    raw.reset();
    const ConnectionId id = server_.accepted.back();
    ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(id) > 0; }));
    EXPECT_EQ(server_.frames.size(), frames + 1) << "cut after " << cut << " bytes";
    EXPECT_THAT(server_.closed.at(id).message(), HasSubstr("in the middle of a frame"));
  }
  world_->RunFor(std::chrono::milliseconds(1));
  EXPECT_EQ(server_.leases, 0);
}

INSTANTIATE_TEST_SUITE_P(Worlds, TransportContract, ::testing::ValuesIn(kWorlds),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace leeway::contract
