// Two real Envs on one thread, over loopback.
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

class TcpRawPeer final : public RawPeer {
 public:
  explicit TcpRawPeer(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress to = NumericAddresses(*Endpoint::Parse(address)).front();
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

class TcpWorld final : public TransportWorld {
 public:
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
    return std::make_unique<TcpRawPeer>(address);
  }

 private:
  void Step() {
    const bool any = server_.RunOnce(Duration::zero());
    client_.RunOnce(any ? Duration::zero() : std::chrono::milliseconds(1));
  }

  SilentLog log_;
  RealEnv server_{log_, 1};
  RealEnv client_{log_, 2};
  Socket dead_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace

std::unique_ptr<TransportWorld> MakeTcpWorld() { return std::make_unique<TcpWorld>(); }

}  // namespace leeway::contract
