// Peers on this host that lie about their memory or their descriptors.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "local_transport_world.h"
#include "transport/local/byte_pipe.h"
#include "transport/local/control_cell.h"
#include "transport/local/shared_notes.h"
#include "transport/local/shared_region.h"
#include "transport/stream/socket.h"
#include "transport/system/descriptor.h"
#include "wire/frame.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

// A peer that speaks the greeting by hand, and may say anything then.
class HandGreeter {
 public:
  explicit HandGreeter(const SocketAddress& to, int seals = F_SEAL_SHRINK, std::uint64_t says_bytes = kBytes)
      : HandGreeter(Connected(to), seals, says_bytes) {}
  explicit HandGreeter(Socket socket, int seals = F_SEAL_SHRINK, std::uint64_t says_bytes = kBytes)
      : socket_(std::move(socket)), memory_(memfd_create("leeway-test", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
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
  void Greet(const GreetingNote& note) {
    SendPipe();
    SendFrame(wire::kNote, 2, 0, Encode(note));
    greeted_ = true;
  }
  void SendPipe() {
    SendFrame(wire::kNote, 4, 0, Encode(PipeNote{BytePipe::kMemoryBytes}), pipe_.read_only_fd());
  }
  // Sets the count of written bytes that the other end reads.
  void SayWritten(std::uint64_t bytes) { head_->written = bytes; }
  // As one does that closes: what it has sent is no more what it was.
  void TakeBack() const {
    const std::uint64_t other = 1;
    EXPECT_EQ(pwrite(memory_.fd(), &other, sizeof other, offsetof(ControlCell, session)), 8);
  }
  void SendShared(const std::vector<SharedPiece>& pieces, std::uint64_t payload_bytes) {
    std::vector<std::byte> body;
    AppendTrailer(pieces, body);
    SendFrame(wire::kShared, 33, payload_bytes, body);
  }
  void SendFrame(std::uint8_t carrier, std::uint8_t kind, std::uint64_t payload_bytes,
                 const std::vector<std::byte>& body, int fd = -1) {
    const std::vector<std::byte> frame = Frame(carrier, kind, payload_bytes, body);
    if (greeted_ && carrier != wire::kNote) return PutIntoPipe(frame);
    SendBytes(frame, fd >= 0 ? std::vector<int>{fd} : std::vector<int>());
  }
  // Through the socket, whatever was agreed on.
  void SendBeside(std::uint8_t carrier, const std::vector<std::byte>& body = {},
                  std::uint64_t payload_bytes = 0) {
    SendBytes(Frame(carrier, 33, payload_bytes, body), {});
  }
  // A region note whose first `calls` bytes come one by one, with so many descriptors each.
  void SendDescriptors(int calls, std::size_t each) {
    const std::vector<std::byte> note = Frame(wire::kNote, 1, 0, Encode(RegionNote{1, kBytes}));
    std::span<const std::byte> rest = note;
    for (int i = 0; i < calls; ++i) {
      SendBytes(rest.first(1), std::vector<int>(each, memory_.fd()));
      rest = rest.subspan(1);
    }
    SendBytes(rest, {});
  }
  static std::vector<std::byte> Frame(std::uint8_t carrier, std::uint8_t kind, std::uint64_t payload_bytes,
                                      const std::vector<std::byte>& body) {
    FrameHead head{.kind = kind,
                   .body_bytes = static_cast<std::uint32_t>(body.size()),
                   .payload_bytes = payload_bytes,
                   .carrier = carrier};
    const auto header = wire::EncodeHeader(head);
    std::vector<std::byte> all(header.begin(), header.end());
    all.insert(all.end(), body.begin(), body.end());
    return all;
  }
  void PutIntoPipe(const std::vector<std::byte>& bytes) {
    std::memcpy(pipe_.bytes().data() + sizeof(PipeHead), bytes.data(), bytes.size());
    head_->written = bytes.size();
  }
  static constexpr std::uint64_t kBytes = 1 << 20;

 private:
  static Socket Connected(const SocketAddress& to) {
    Socket made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(made.fd(), to.raw(), to.raw_bytes()), 0);
    return made;
  }
  void SendBytes(std::span<const std::byte> bytes, const std::vector<int>& fds) {
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(part), fds.data(), fds.size() * sizeof(int));
    }
    EXPECT_EQ(sendmsg(socket_.fd(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  Socket socket_;
  Descriptor memory_;
  SharedRegion pipe_ = *SharedRegion::Make(BytePipe::kMemoryBytes);
  PipeHead* head_ = new (pipe_.bytes().data()) PipeHead;
  bool greeted_ = false;
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
       const Descriptor more(memfd_create("leeway-test", MFD_CLOEXEC));
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
       peer->SendFrame(wire::kNote, 2, 0, Encode(GreetingNote{.host = *ReadHostKey()}));
     }},
    {"GreetingWithoutAPipe", "a greeting without a pipe",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 2, 0, Encode(GreetingNote{.host = *ReadHostKey()}));
     }},
    {"PipeWithoutADescriptor", "a pipe came without its descriptor",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 4, 0, Encode(PipeNote{BytePipe::kMemoryBytes}));
     }},
    {"TwoPipes", "a second pipe",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendPipe();
       peer->SendPipe();
     }},
    {"PipeAfterTheGreeting", "a pipe after the greeting",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->SendPipe();
     }},
    {"PipeOfAnotherSize", "a pipe of 4096 bytes",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       const Descriptor small(memfd_create("leeway-test", MFD_CLOEXEC));
       peer->SendFrame(wire::kNote, 4, 0, Encode(PipeNote{4096}), small.fd());
     }},
    {"MoreInThePipeThanItHolds", "wanted at most the 65536",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->SayWritten(BytePipe::kRingBytes + 1);
     }},
    {"AFrameBesideThePipe", "frames come through the pipe",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->SendBeside(wire::kInStream);
     }},
    {"ANoteInThePipe", "notes come through the socket",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->PutIntoPipe(HandGreeter::Frame(wire::kNote, 5, 0, {}));
     }},
    {"APayloadBesideThePipe", "frames come through the pipe",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       std::vector<std::byte> body;
       AppendTrailer(std::vector<SharedPiece>{{0, 4096, 0}}, body);
       peer->SendBeside(wire::kShared, body, 4096);
     }},
    {"ABellWithoutAPipe", "of one that has a pipe",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 5, 0, {});
     }},
    {"ABellWithABody", "wanted an empty one",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->Greet();
       peer->SendFrame(wire::kNote, 5, 0, std::vector<std::byte>(1));
     }},
    {"MoreDescriptorsThanItNames", "more than 64 descriptors came before",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendDescriptors(5, 16);
     }},
    {"MoreDescriptorsAtOnceThanAreTaken", "more than 16 at once",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendDescriptors(1, 40);
     }},
    {"MoreMemoryThanAPeerMayHave", "what is left of 1099511627776 per peer",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       const Descriptor more(memfd_create("leeway-test", MFD_CLOEXEC));
       peer->SendFrame(wire::kNote, 1, 0, Encode(RegionNote{1, 1ULL << 40}), more.fd());
     }},
    {"SharesNothingUnasked", "wanted an empty one that answers a greeting",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 3, 0, {});
     }},
    {"AShortNote", "region note: got 3 bytes",
     [](const SocketAddress& to, std::unique_ptr<HandGreeter>& peer) {
       peer = std::make_unique<HandGreeter>(to);
       peer->SendFrame(wire::kNote, 1, 0, std::vector<std::byte>(3));
     }},
};

INSTANTIATE_TEST_SUITE_P(Lies, LyingPeerTest, ::testing::ValuesIn(kLies),
                         [](const auto& row) { return std::string(row.param.name); });

// It says to have taken back its memory, and stays: whoever reads there in place would wait for it for ever.
TEST_F(LocalTransportTest, APeerThatTakesItsMemoryBackIsCutOff) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  HandGreeter liar(LocalAddress());
  node_->on_landing = [&](const Landing&) { liar.TakeBack(); };
  liar.Greet();
  liar.SendShared({{0, 4096, 4096}}, 4096);
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; })) << "still there";
  EXPECT_EQ(node_->read_in_place, 1U);
  EXPECT_THAT(node_->closed.begin()->second.message(), HasSubstr("took back its memory"));
  node_->on_landing = {};
  other_->Send(to_server_, 1, "still here");
  EXPECT_TRUE(RunUntil([&] { return node_->frames.size() == 2; }));
}

// The other way round: what listens at the Unix socket of a server lies to who connects.
class LyingServerTest : public LocalTransportTest {
 protected:
  void SetUp() override {
    Listen({.carrier = Carrier::kTcp});
    const SocketAddress at = LocalAddress();
    ASSERT_EQ(bind(listening_.fd(), at.raw(), at.raw_bytes()), 0);
    ASSERT_EQ(listen(listening_.fd(), 1), 0);
    client_ = std::make_unique<RealEnv>(log_, StreamOptions{});
    other_ = std::make_unique<TransportRecorder>(client_->env());
    to_server_ = other_->Connect(address_);
  }
  Socket Accepted() { return Socket(accept(listening_.fd(), nullptr, nullptr)); }
  Socket listening_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST_F(LyingServerTest, InItsGreetingIsLeftForTcp) {
  HandGreeter liar(Accepted(), /*seals=*/0);
  ASSERT_TRUE(RunUntil([&] { return other_->connected.size() == 1; }));
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  EXPECT_THAT(client_->env().transport.WhyNotShared(to_server_), HasSubstr("not sealed against shrinking"));
}

TEST_F(LyingServerTest, AfterItsGreetingIsCutOff) {
  HandGreeter liar(Accepted());
  liar.Greet();
  ASSERT_TRUE(RunUntil([&] { return other_->connected.size() == 1; }));
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "local");
  liar.SendShared({{0, 4096, HandGreeter::kBytes}}, 4096);
  ASSERT_TRUE(RunUntil([&] { return other_->closed.size() == 1; }));
  EXPECT_EQ(other_->closed.at(to_server_).code(), StatusCode::kProtocol);
  EXPECT_THAT(other_->closed.at(to_server_).message(), HasSubstr("wanted within"));
  EXPECT_TRUE(other_->frames.empty());
}

}  // namespace
}  // namespace leeway::contract
