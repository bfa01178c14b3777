// What only the local transport has: shared memory, descriptors, peers that lie about either.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "leeway/arena.h"
#include "transport/local/shared_notes.h"
#include "transport/real_env.h"
#include "transport/stream/address.h"
#include "transport/stream/socket.h"
#include "transport/stream/stream_options.h"
#include "transport_recorder.h"
#include "wire/frame.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

class KeptLog final : public Log {
 public:
  void Write(LogLevel, std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

// Regions of shared memory that this process has mapped, its own and its peers'.
int MappedRegions() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:leeway") != std::string::npos ? 1 : 0;
  return count;
}

class LocalTransportTest : public ::testing::Test {
 protected:
  void Listen(const StreamOptions& options = {}) {
    server_ = std::make_unique<RealEnv>(log_, 1, options);
    node_ = std::make_unique<TransportRecorder>(server_->env());
    const Result<std::string> address = node_->Listen("127.0.0.1:0");
    ASSERT_TRUE(address.ok()) << address.status().ToString();
    address_ = *address;
  }
  void Connect(const StreamOptions& options = {}) {
    client_ = std::make_unique<RealEnv>(log_, 2, options);
    other_ = std::make_unique<TransportRecorder>(client_->env());
    to_server_ = other_->Connect(address_);
    ASSERT_TRUE(RunUntil([&] { return !other_->connected.empty() || !other_->closed.empty(); }));
  }
  bool RunUntil(const std::function<bool()>& done) {
    const TimePoint limit = server_->env().clock.Now() + std::chrono::seconds(20);
    while (!done() && server_->env().clock.Now() < limit) {
      server_->RunOnce(std::chrono::milliseconds(client_ ? 0 : 1));
      if (client_) client_->RunOnce(std::chrono::milliseconds(1));
    }
    return done();
  }
  [[nodiscard]] SocketAddress LocalAddress() const {
    return SocketAddress::LocalOf(NumericAddresses(*Endpoint::Parse(address_)).front());
  }

  KeptLog log_;
  std::unique_ptr<RealEnv> server_, client_;
  std::unique_ptr<TransportRecorder> node_, other_;
  std::string address_;
  ConnectionId to_server_;
};

TEST_F(LocalTransportTest, ProcessesOfOneHostShareMemoryByThemselves) {
  Listen();
  Connect();
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "local");
  EXPECT_EQ(server_->env().transport.Carrier(node_->accepted.at(0)), "local");
  EXPECT_EQ(client_->env().transport.Host(), server_->env().transport.Host());
  EXPECT_FALSE(client_->env().transport.Host().empty());
  EXPECT_EQ(log_.text, "");
}

TEST_F(LocalTransportTest, WhatLiesInTheArenaIsNotCopiedAndPinnedUntilItWasRead) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  constexpr std::size_t kBytes = 3 << 20;
  std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  std::memset(memory.get(), 7, kBytes);
  other_->Send(to_server_, 1, "b", {{{memory.get(), kBytes}, memory}});
  EXPECT_EQ(memory.use_count(), 2);
  // Written after the send and before the peer reads: it is the same memory.
  std::memset(memory.get(), 8, 4);
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_EQ(node_->frames[0].payload.substr(0, 5), "\x08\x08\x08\x08\x07");
  EXPECT_EQ(node_->read_in_place, 1U);
  EXPECT_TRUE(RunUntil([&] { return memory.use_count() == 1; })) << "without a word from the peer";
}

TEST_F(LocalTransportTest, OnlyTcpIsThereWhenOneSideWantsIt) {
  Listen({.carrier = Carrier::kTcp});
  Connect();
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  Listen();
  Connect({.carrier = Carrier::kTcp});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  Connect({.carrier = Carrier::kUds});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "uds");
}

TEST_F(LocalTransportTest, LocalAloneFailsWhereNobodySharesMemory) {
  Listen({.carrier = Carrier::kTcp});
  Connect({.carrier = Carrier::kLocal});
  EXPECT_TRUE(other_->connected.empty());
  ASSERT_EQ(other_->closed.size(), 1U);
}

TEST_F(LocalTransportTest, OnePeerThatDoesNotGreetIsReachedOverTcpAndSaidSo) {
  Listen({.carrier = Carrier::kTcp});
  const Socket mute(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress at = LocalAddress();
  ASSERT_EQ(bind(mute.fd(), at.raw(), at.raw_bytes()), 0);
  ASSERT_EQ(listen(mute.fd(), 1), 0);
  Connect({.greeting_max = std::chrono::milliseconds(50)});
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  EXPECT_THAT(log_.text,
              HasSubstr("memory cannot be shared with it (no greeting within 50 ms): going over TCP"));
}

TEST_F(LocalTransportTest, APeerThatIsGoneIsUnmappedAndLeavesNothing) {
  Listen();
  const int before = MappedRegions();
  Connect();
  const int together = MappedRegions();
  EXPECT_GE(together, before + 2) << "each maps the other's";
  other_.reset();
  client_.reset();
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; }));
  server_->RunOnce(std::chrono::milliseconds(1));
  EXPECT_LT(MappedRegions(), together);
  node_.reset();
  server_.reset();
  EXPECT_EQ(MappedRegions(), 0);
}

TEST_F(LocalTransportTest, WhatWasSentIsDisownedBeforeItIsTakenBack) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  constexpr std::size_t kBytes = 1 << 16;
  const std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  // The sender closes while the reader is in the middle of the frame.
  bool before = false;
  bool after = true;
  node_->on_landing = [&](const Landing& landing) {
    before = landing.witness.Holds();
    other_->Close(to_server_);
    for (int i = 0; i < 10; ++i) client_->RunOnce(Duration::zero());
    after = landing.witness.Holds();
  };
  other_->Send(to_server_, 1, "", {{{memory.get(), kBytes}, memory}});
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_TRUE(before);
  EXPECT_FALSE(after);
}

// A peer that speaks the greeting by hand, and may say anything then.
class HandGreeter {
 public:
  explicit HandGreeter(const SocketAddress& to, int seals = F_SEAL_SHRINK, std::uint64_t says_bytes = kBytes)
      : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        memory_(memfd_create("leeway-test", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(connect(socket_.fd(), to.raw(), to.raw_bytes()), 0);
    EXPECT_EQ(ftruncate(memory_.fd(), kBytes), 0);
    EXPECT_TRUE(seals == 0 || fcntl(memory_.fd(), F_ADD_SEALS, seals) == 0);
    SendFrame(wire::kNote, 1, 0, Encode(RegionNote{0, says_bytes}), memory_.fd());
  }
  void Greet(std::uint64_t cell = 0) {
    GreetingNote note;
    note.host = *ReadHostKey();
    note.cell_offset = cell;
    Greet(note);
  }
  void Greet(const GreetingNote& note) { SendFrame(wire::kNote, 2, 0, Encode(note)); }
  void SendShared(const std::vector<SharedPiece>& pieces, std::uint64_t payload_bytes) {
    std::vector<std::byte> body;
    AppendTrailer(pieces, body);
    SendFrame(wire::kShared, 33, payload_bytes, body);
  }
  void SendFrame(std::uint8_t carrier, std::uint8_t kind, std::uint64_t payload_bytes,
                 const std::vector<std::byte>& body, int fd = -1) {
    FrameHead head{.kind = kind,
                   .body_bytes = static_cast<std::uint32_t>(body.size()),
                   .payload_bytes = payload_bytes,
                   .carrier = carrier};
    const auto header = wire::EncodeHeader(head);
    std::vector<std::byte> all(header.begin(), header.end());
    all.insert(all.end(), body.begin(), body.end());
    iovec piece{all.data(), all.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (fd >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
    }
    EXPECT_EQ(sendmsg(socket_.fd(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
  }
  static constexpr std::uint64_t kBytes = 1 << 20;

 private:
  Socket socket_;
  Socket memory_;
};

struct Lie {
  const char* name;
  const char* said;  // in the reason of the close
  std::function<void(const SocketAddress&, std::unique_ptr<HandGreeter>&)> tell;
};

class LyingPeerTest : public LocalTransportTest, public ::testing::WithParamInterface<Lie> {};

TEST_P(LyingPeerTest, IsCutOffAndHarmsNobody) {
  Listen();
  Connect();
  std::unique_ptr<HandGreeter> liar;
  GetParam().tell(LocalAddress(), liar);
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; })) << "still there";
  EXPECT_THAT(node_->closed.begin()->second.message(), HasSubstr(GetParam().said));
  EXPECT_EQ(node_->closed.begin()->second.code(), StatusCode::kProtocol);
  EXPECT_TRUE(node_->frames.empty());
  other_->Send(to_server_, 1, "still here");
  EXPECT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
}

// Greets well, then sends one shared payload.
auto Pieces(std::vector<SharedPiece> pieces, std::uint64_t payload_bytes) {
  return [=](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
    peer = std::make_unique<HandGreeter>(to);
    peer->Greet();
    peer->SendShared(pieces, payload_bytes);
  };
}

const Lie kLies[] = {
    {"RegionThatIsNotThere", "got region 1", Pieces({{1, 4096, 0}}, 4096)},
    {"OffsetBeyondTheEnd", "wanted within", Pieces({{0, 4096, HandGreeter::kBytes}}, 4096)},
    {"LengthBeyondTheEnd", "wanted within", Pieces({{0, 4096, HandGreeter::kBytes - 4092}}, 4096)},
    {"OffsetThatOverflows", "wanted within", Pieces({{0, 4096, ~std::uint64_t{0} - 7}}, 4096)},
    {"OffsetOfHalfANumber", "wanted a multiple of 4", Pieces({{0, 4096, 2}}, 4096)},
    {"FewerBytesThanAnnounced", "wanted the 8192", Pieces({{0, 4096, 0}}, 8192)},
    {"NoPieces", "0 pieces", Pieces({}, 4096)},
    {"MorePiecesThanThereAre", "pieces, wanted 1 to",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       std::vector<std::byte> body(20);
       const std::uint32_t count = 1'000'000'000;
       std::memcpy(body.data() + 16, &count, sizeof count);
       peer->SendFrame(wire::kShared, 33, 4096, body);
     }},
    {"PayloadBeforeTheGreeting", "before the greeting",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendShared({{0, 4096, 0}}, 4096);
     }},
    {"MemoryThatMayShrink", "not sealed against shrinking",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to, 0);
     }},
    {"MemoryThatIsSmaller", "wanted the 4194304 that were announced",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to, F_SEAL_SHRINK, 4 << 20);
     }},
    {"RegionWithoutADescriptor", "without its descriptor",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 1, 0, Encode(RegionNote{1, 4096}));
     }},
    {"RegionOutOfOrder", "got region 5, wanted 1",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       const Socket more(memfd_create("leeway-test", MFD_CLOEXEC));
       peer->SendFrame(wire::kNote, 1, 0, Encode(RegionNote{5, 4096}), more.fd());
     }},
    {"CellBeyondTheEnd", "wanted within",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet(HandGreeter::kBytes);
     }},
    {"AnotherHost", "from another host",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet(GreetingNote{});
     }},
    {"AnotherVersion", "greeting of version 9",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet(GreetingNote{.version = 9});
     }},
    {"TwoGreetings", "a second greeting",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->Greet();
     }},
    {"AShortNote", "region note: got 3 bytes",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 1, 0, std::vector<std::byte>(3));
     }},
};

INSTANTIATE_TEST_SUITE_P(Lies, LyingPeerTest, ::testing::ValuesIn(kLies),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace leeway::contract
