// Two ends of a shared-memory connection in one process. A queue of notes stands in for the socket.
#include "transport/stream/shared_connection.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <utility>

namespace leeway {
namespace {

using ::testing::HasSubstr;

struct SentNote {
  NoteKind kind;
  std::vector<std::byte> body;
  Descriptor fd;
};

class HeldTimers final : public Timers {
 public:
  TimerId After(Duration, std::function<void()> fire) override {
    fire_ = std::move(fire);
    return TimerId(++made_);
  }
  void Cancel(TimerId) override {}
  void Fire() { std::exchange(fire_, nullptr)(); }
  [[nodiscard]] bool armed() const { return fire_ != nullptr; }

 private:
  std::uint64_t made_ = 0;
  std::function<void()> fire_;
};

class SharedEnd final : public NoteStream, public TransportEvents {
 public:
  explicit SharedEnd(std::uint64_t session)
      : connection({loop, timers, options, ConnectionId(1), *this}, *this,
                   std::make_unique<SharedExchange>(HostKey{}, arena, session, 1ULL << 40)) {
    connection.SetLimits({.body_bytes_max = 4096, .payload_bytes_max = 1ULL << 30});
  }

  void PushNote(NoteKind kind, std::span<const std::byte> body, int fd) override {
    sent.push_back(
        {kind, {body.begin(), body.end()}, Descriptor(fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0))});
  }
  bool FlushSocket() override { return true; }
  [[nodiscard]] bool HasUnsent() const override { return false; }
  Status ReadNotes() override {
    ++notes_read;
    return peer == nullptr ? Status::Ok() : TakeNotes(*peer);
  }
  // Bells are counted.
  Status TakeNotes(SharedEnd& from) {
    for (; !from.sent.empty(); from.sent.pop_front()) {
      SentNote& note = from.sent.front();
      if (note.kind == NoteKind::kBell) {
        ++bells;
        continue;
      }
      if (note.fd.fd() >= 0) connection.OnDescriptor(std::move(note.fd));
      LW_RETURN_IF_ERROR(connection.OnNote(note.kind, note.body).status());
    }
    return Status::Ok();
  }

  void OnAccepted(ConnectionId, const std::string&) override {}
  void OnConnected(ConnectionId) override {}
  void OnClosed(ConnectionId, const Status&) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead& head, std::span<const std::byte>) override {
    if (stop_at_start) connection.StopReading();
    Landing landing;
    landing.in_place = in_place;
    if (!in_place) {
      landed.resize(head.payload_bytes);
      landing.places.push_back(landed);
    }
    return landing;
  }
  void OnFrame(ConnectionId, const FrameHead& head, std::span<const std::byte>, Landing&& landing) override {
    kinds.push_back(head.kind);
    if (landing.in_place && !landing.views.empty()) first_view = landing.views.front();
  }

  EventLoop loop;
  HeldTimers timers;
  StreamOptions options;
  SharedArena arena;
  std::deque<SentNote> sent;
  SharedEnd* peer = nullptr;
  int notes_read = 0, bells = 0;
  bool in_place = false, stop_at_start = false;
  std::vector<std::byte> landed;
  std::span<const std::byte> first_view;
  std::vector<int> kinds;
  SharedConnection connection;
};

class SharedConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (SharedEnd* end : {&a, &b}) {
      const auto notes = end->connection.Greet();
      for (const SharedExchange::Note& note : *notes) end->PushNote(note.kind, note.body, note.fd);
    }
    ASSERT_TRUE(b.TakeNotes(a).ok());
    ASSERT_TRUE(a.TakeNotes(b).ok());
    for (SharedEnd* end : {&a, &b}) end->connection.BeginPipe(SendQueue(4096));
    b.peer = &a;
  }
  std::vector<Pinned> Payload(std::size_t bytes) {
    memory = a.arena.Allocate(bytes, Arena::Use::kSent);
    memory.get()[0] = std::byte{7};
    return {{{memory.get(), bytes}, memory}};
  }

  SharedEnd a{11}, b{22};
  std::shared_ptr<std::byte> memory;
};

TEST_F(SharedConnectionTest, AFrameGoesThroughThePipe) {
  const std::vector<std::byte> body(40);
  a.connection.Send(3, body, {});
  EXPECT_FALSE(b.connection.HasBytes()) << "before the flush";
  EXPECT_FALSE(a.connection.Flush());
  EXPECT_TRUE(b.connection.HasBytes());
  EXPECT_TRUE(b.connection.Read().ok());
  EXPECT_EQ(b.kinds, std::vector<int>{3});
  EXPECT_TRUE(a.connection.queue().empty());
}

TEST_F(SharedConnectionTest, ALargePayloadIsReadWhereItLiesAndPinnedUntilThen) {
  b.in_place = true;
  a.connection.Send(4, {}, Payload(8192));
  EXPECT_EQ(a.connection.QueuedBytes(), a.connection.queue().bytes() + 8192);
  (void)a.connection.Flush();
  EXPECT_TRUE(b.connection.Read().ok());
  EXPECT_EQ(b.kinds, std::vector<int>{4});
  EXPECT_EQ(b.first_view[0], std::byte{7});
  EXPECT_EQ(memory.use_count(), 2);
  a.timers.Fire();
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_FALSE(a.timers.armed()) << "nothing is left to collect";
}

TEST_F(SharedConnectionTest, APayloadIsCopiedIntoTheLandingOfTheReceiver) {
  a.connection.Send(4, {}, Payload(8192));
  (void)a.connection.Flush();
  EXPECT_TRUE(b.connection.Read().ok());
  ASSERT_EQ(b.landed.size(), 8192U);
  EXPECT_EQ(b.landed[0], std::byte{7});
}

TEST_F(SharedConnectionTest, ARegionThatIsNotKnownYetIsLookedForAmongTheNotes) {
  b.in_place = true;
  a.connection.Send(4, {}, Payload(std::size_t{1} << 29));
  ASSERT_FALSE(a.sent.empty()) << "a region of its own";
  (void)a.connection.Flush();
  EXPECT_TRUE(b.connection.Read().ok());
  EXPECT_EQ(b.notes_read, 1);
  EXPECT_EQ(b.kinds, std::vector<int>{4});
}

TEST_F(SharedConnectionTest, ASleepingPeerIsWokenOnceAndAFullRingWaitsForABell) {
  ASSERT_TRUE(b.connection.MaySleep());
  const std::vector<std::byte> body(4000);
  for (int i = 0; i < 20; ++i) a.connection.Send(3, body, {});
  EXPECT_FALSE(a.connection.Flush());
  EXPECT_TRUE(a.connection.waiting());
  ASSERT_TRUE(b.TakeNotes(a).ok());
  EXPECT_EQ(b.bells, 1);
  b.connection.OnAwake();
  EXPECT_TRUE(b.connection.Read().ok());
  b.connection.RingIfPeerWaits();
  ASSERT_TRUE(a.TakeNotes(b).ok());
  EXPECT_EQ(a.bells, 1);
  EXPECT_TRUE(a.connection.OnBell());
  EXPECT_FALSE(a.connection.OnBell()) << "nothing waits any more";
  EXPECT_FALSE(a.connection.Flush());
  EXPECT_TRUE(b.connection.Read().ok());
  EXPECT_EQ(b.kinds.size(), 20U);
}

TEST_F(SharedConnectionTest, AStoppedEndTakesBytesAndHandsNoFrameOn) {
  b.stop_at_start = true;
  a.connection.Send(4, {}, Payload(8192));
  a.connection.Send(5, {}, {});
  (void)a.connection.Flush();
  EXPECT_TRUE(b.connection.Read().ok());
  a.connection.Send(6, {}, {});
  (void)a.connection.Flush();
  EXPECT_TRUE(b.connection.Read().ok());
  EXPECT_FALSE(b.connection.HasBytes());
  EXPECT_TRUE(b.kinds.empty());
}

TEST_F(SharedConnectionTest, ABodyBeyondTheLimitIsRefusedWithoutItsTrailer) {
  b.connection.SetLimits({.body_bytes_max = 10, .payload_bytes_max = 1ULL << 30});
  const std::vector<std::byte> body(11);
  a.connection.Send(4, body, Payload(8192));
  (void)a.connection.Flush();
  EXPECT_THAT(b.connection.Read().message(), HasSubstr("got a body of 11 bytes, wanted at most 10"));
}

}  // namespace
}  // namespace leeway
