// Two real Envs on one thread: over loopback, a Unix socket, shared memory.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "transport/real_env.h"
#include "transport/stream/address.h"
#include "transport/stream/socket.h"
#include "transport_world.h"

namespace leeway::contract {
namespace {

class SilentLog final : public Log {
 public:
  void Write(LogLevel, std::string_view) override {}
};

class SocketRawPeer final : public RawPeer {
 public:
  SocketRawPeer(const std::string& address, Carrier carrier)
      : socket_(socket(carrier == Carrier::kTcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    SocketAddress to = NumericAddresses(*Endpoint::Parse(address)).front();
    if (carrier != Carrier::kTcp) to = SocketAddress::LocalOf(to);
    if (connect(socket_.fd(), to.raw(), to.raw_bytes()) != 0)
      throw std::runtime_error("cannot connect to " + address);
  }
  void Write(std::span<const std::byte> bytes) override {
    if (send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("short write");
    }
  }

 private:
  const Socket socket_;
};

class SocketWorld final : public TransportWorld {
 public:
  explicit SocketWorld(Carrier carrier) : carrier_(carrier) {}
  Env& server() override { return server_.env(); }
  Env& client() override { return client_.env(); }
  std::string ListenAddress() override { return "127.0.0.1:0"; }

  std::string DeadAddress() override {
    // Bound and never listening: refused, and nobody else can take the port meanwhile.
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(dead_.fd(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) != 0)
      throw std::runtime_error("cannot bind");
    return SocketAddress::OfSocket(dead_.fd()).ToString();
  }

  bool RunUntil(const std::function<bool()>& done) override {
    const TimePoint limit = server().clock.Now() + std::chrono::seconds(20);
    while (!done()) {
      if (server().clock.Now() > limit) return false;
      Step();
    }
    return true;
  }

  void RunFor(Duration time) override {
    const TimePoint end = server().clock.Now() + time;
    while (server().clock.Now() < end) Step();
  }

  std::unique_ptr<RawPeer> ConnectRaw(const std::string& address) override {
    return std::make_unique<SocketRawPeer>(address, carrier_);
  }

 private:
  void Step() {
    const bool any = server_.RunOnce(Duration::zero());
    client_.RunOnce(any ? Duration::zero() : std::chrono::milliseconds(1));
  }

  const Carrier carrier_;
  SilentLog log_;
  RealEnv server_{log_, false, carrier_};
  RealEnv client_{log_, false, carrier_};
  Socket dead_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace

std::unique_ptr<TransportWorld> MakeTcpWorld() { return std::make_unique<SocketWorld>(Carrier::kTcp); }
std::unique_ptr<TransportWorld> MakeUdsWorld() { return std::make_unique<SocketWorld>(Carrier::kUds); }
std::unique_ptr<TransportWorld> MakeLocalWorld() { return std::make_unique<SocketWorld>(Carrier::kLocal); }

}  // namespace leeway::contract
