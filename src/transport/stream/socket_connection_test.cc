// One end of a pair of sockets, which the test reads and writes by hand at the other.
#include "transport/stream/socket_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using ReadEnd = SocketConnection::ReadEnd;

class NoTimers final : public Timers {
 public:
  TimerId After(Duration, std::function<void()>) override { return {}; }
  void Cancel(TimerId) override {}
};

class SocketConnectionTest : public ::testing::Test, public SocketConnection::Events, public TransportEvents {
 protected:
  SocketConnectionTest() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    connection.Adopt(Socket(pair[0]));
    far = Descriptor(pair[1]);
  }
  void Write(std::span<const std::byte> data) const {
    ASSERT_EQ(write(far.fd(), data.data(), data.size()), static_cast<ssize_t>(data.size()));
  }
  // Writes an empty note with descriptors.
  void WriteNoteWith(std::span<const int> fds) const {
    auto header =
        wire::EncodeHeader({.kind = 5, .body_bytes = 0, .payload_bytes = 0, .carrier = wire::kNote});
    iovec piece{.iov_base = header.data(), .iov_len = header.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(64 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
    ASSERT_EQ(sendmsg(far.fd(), &message, 0), static_cast<ssize_t>(header.size()));
  }
  void WriteFrame(std::uint8_t kind, std::uint8_t carrier = 0) const {
    Write(wire::EncodeHeader({.kind = kind, .body_bytes = 0, .payload_bytes = 0, .carrier = carrier}));
  }
  std::size_t ReadFar() const {
    std::vector<std::byte> space(1 << 20);
    const ssize_t n = read(far.fd(), space.data(), space.size());
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }

  void OnReadable() override { ++readable; }
  void OnWritable() override { ++writable; }
  void OnDescriptor(Descriptor fd) override { descriptors.push_back(std::move(fd)); }
  void OnDescriptorsLost(std::size_t at_once_max) override { lost_at_once = at_once_max; }
  void OnBytes() override { ++bytes; }
  Status CheckFrame() override { return frame_status; }
  Status OnCarried(const FrameHead& head, std::span<const std::byte>) override {
    notes.push_back(head.kind);
    descriptors_before_note = descriptors.size();
    return Status::Ok();
  }
  void OnSendFailed(int error) override { send_error = error; }
  void OnAccepted(ConnectionId, const std::string&) override {}
  void OnConnected(ConnectionId) override {}
  void OnClosed(ConnectionId, const Status&) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing{};
  }
  void OnFrame(ConnectionId, const FrameHead& head, std::span<const std::byte>, Landing&&) override {
    kinds.push_back(head.kind);
    if (head.kind == 9) connection.StopReading();
  }

  EventLoop loop;
  NoTimers timers;
  StreamOptions options;
  SocketConnection connection{{loop, timers, options, ConnectionId(1), *this}, *this};
  Descriptor far;
  int readable = 0, writable = 0, send_error = 0, bytes = 0;
  std::size_t lost_at_once = 0, descriptors_before_note = 0;
  Status frame_status;
  std::vector<int> kinds, notes;
  std::vector<Descriptor> descriptors;
};

TEST_F(SocketConnectionTest, FramesThatCameAreHandedOnUntilReadingStops) {
  WriteFrame(3);
  WriteFrame(4);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_EQ(kinds, (std::vector<int>{3, 4}));
  EXPECT_EQ(connection.Read().end, ReadEnd::kDrained);
  WriteFrame(9);
  WriteFrame(5);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_EQ(kinds, (std::vector<int>{3, 4, 9}));
}

TEST_F(SocketConnectionTest, NotesComeOnlyWhereTheyMay) {
  connection.SetCarriers(FrameLimits::Carriers::kAll);
  WriteFrame(5, wire::kNote);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_EQ(notes, std::vector<int>{5});
  connection.SetCarriers(FrameLimits::Carriers::kStream);
  WriteFrame(5, wire::kNote);
  const SocketConnection::ReadResult read = connection.Read();
  EXPECT_EQ(read.end, ReadEnd::kBadBytes);
  EXPECT_THAT(read.status.message(), HasSubstr("no memory is shared"));
}

TEST_F(SocketConnectionTest, DescriptorsComeBeforeTheirNoteAndOnlyWhereNotesMay) {
  WriteFrame(3);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_EQ(bytes, 0) << "frames of the stream alone";
  connection.SetCarriers(FrameLimits::Carriers::kAll);
  const std::array<int, 2> two = {far.fd(), far.fd()};
  WriteNoteWith(two);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  ASSERT_EQ(descriptors_before_note, 2U);
  EXPECT_NE(descriptors.front().fd(), far.fd()) << "one of this end's own";
  EXPECT_EQ(notes, std::vector<int>{5});
  EXPECT_EQ(bytes, 1);
  EXPECT_EQ(lost_at_once, 0U);
}

TEST_F(SocketConnectionTest, DescriptorsBeyondThoseOfOneCallAreLost) {
  connection.SetCarriers(FrameLimits::Carriers::kAll);
  std::array<int, 40> many{};
  many.fill(far.fd());
  WriteNoteWith(many);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_GT(lost_at_once, 0U);
  EXPECT_EQ(descriptors.size(), lost_at_once);
}

TEST_F(SocketConnectionTest, AFrameThatItsOwnerRefusesEndsTheReading) {
  frame_status = Protocol("a descriptor too many");
  connection.SetLimits({.body_bytes_max = 0, .payload_bytes_max = 8});
  connection.SetCarriers(FrameLimits::Carriers::kAll);
  Write(wire::EncodeHeader({.kind = 4, .body_bytes = 0, .payload_bytes = 8, .carrier = 0}));
  const SocketConnection::ReadResult read = connection.Read();
  EXPECT_EQ(read.end, ReadEnd::kBadBytes);
  EXPECT_THAT(read.status.message(), HasSubstr("a descriptor too many"));
}

TEST_F(SocketConnectionTest, TheQueueIsHandedOverOrCleared) {
  connection.Send(1, {}, {});
  EXPECT_TRUE(connection.HasUnsent());
  EXPECT_EQ(connection.TakeQueue().frames(), 1U);
  EXPECT_FALSE(connection.HasUnsent());
  connection.Send(1, {}, {});
  connection.ClearQueue();
  EXPECT_TRUE(connection.Flush());
  EXPECT_EQ(ReadFar(), 0U);
}

TEST_F(SocketConnectionTest, TheEndIsSeenAndWhetherItCutsAFrame) {
  const std::array<std::byte, 3> part = {std::byte{0x4C}, std::byte{0x57}, std::byte{1}};
  Write(part);
  EXPECT_EQ(connection.Read().end, ReadEnd::kWait);
  EXPECT_FALSE(connection.AtFrameBoundary());
  far = Descriptor();
  EXPECT_EQ(connection.Read().end, ReadEnd::kClosed);
  EXPECT_FALSE(connection.Discard().has_value());
}

TEST_F(SocketConnectionTest, AFullSocketWaitsUntilItIsWritable) {
  const std::vector<std::byte> body(60'000);
  for (int i = 0; i < 100; ++i) connection.Send(1, body, {});
  EXPECT_FALSE(connection.Flush());
  EXPECT_TRUE(connection.waiting());
  const std::uint64_t left = connection.queue().bytes();
  EXPECT_FALSE(connection.Flush()) << "the kernel is not asked again before it says so";
  EXPECT_EQ(connection.queue().bytes(), left);
  while (ReadFar() > 0) {
  }
  loop.RunOnce(std::chrono::seconds(60));
  EXPECT_EQ(writable, 1);
  EXPECT_FALSE(connection.waiting());
}

TEST_F(SocketConnectionTest, ASendToAPeerThatIsGoneIsReported) {
  far = Descriptor();
  connection.Send(1, {}, {});
  EXPECT_FALSE(connection.Flush());
  EXPECT_EQ(send_error, EPIPE);
}

TEST_F(SocketConnectionTest, WhatIsDiscardedIsCounted) {
  WriteFrame(3);
  EXPECT_EQ(connection.Discard(), wire::kHeaderBytes);
  EXPECT_EQ(connection.Discard(), 0U);
  EXPECT_TRUE(kinds.empty());
}

}  // namespace
}  // namespace leeway
