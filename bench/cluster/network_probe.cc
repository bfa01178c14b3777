#include "bench/cluster/network_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <sstream>
#include <vector>

#include "base/errors.h"
#include "bench/cpu.h"
#include "bench/turns.h"

namespace leeway::bench {
namespace {

// Buckets are full at the beginning, and TCP begins slowly.
constexpr std::chrono::milliseconds kProbeWarm{300};
constexpr std::size_t kProbeChunk = 256U << 10;

sockaddr_in ProbeAddress(std::uint32_t machine, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, EmulatedNetwork::MachineAddress(machine).c_str(), &address.sin_addr);
  return address;
}

Status ProbeError(const char* what) { return Unavailable("the probe cannot {}: {}", what, ErrnoText(errno)); }

// One machine of the probe: a connection to every other, and bytes both ways on each.
class ProbeMachine {
 public:
  ProbeMachine(std::uint32_t machine, std::uint32_t machines) : machine_(machine), machines_(machines) {}

  // Its port.
  Result<std::string> Listen() {
    listener_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in any = ProbeAddress(machine_, 0);
    sockaddr_in bound{};
    socklen_t size = sizeof(bound);
    if (listener_.fd() < 0 ||
        bind(listener_.fd(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
        listen(listener_.fd(), 64) != 0 ||
        getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      return ProbeError("listen");
    return std::to_string(ntohs(bound.sin_port));
  }

  // `ports` of all machines, in their order. A machine calls those before it.
  Result<std::string> Connect(const std::string& ports) {
    std::istringstream numbers(ports);
    for (std::uint32_t other = 0, port = 0; other < machine_ && numbers >> port; ++other) {
      Descriptor peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in to = ProbeAddress(other, static_cast<std::uint16_t>(port));
      if (peer.fd() < 0 || connect(peer.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0)
        return ProbeError("connect");
      peers_.push_back(std::move(peer));
    }
    for (std::uint32_t other = machine_ + 1; other < machines_; ++other) {
      Descriptor peer(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (peer.fd() < 0) return ProbeError("accept");
      peers_.push_back(std::move(peer));
    }
    return std::string("connected");
  }

  // Bytes received in the time after the beginning.
  std::string Run(std::chrono::milliseconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point count_from = Clock::now() + kProbeWarm, end = count_from + time;
    std::vector<pollfd> looks;
    for (const Descriptor& peer : peers_) looks.push_back({peer.fd(), POLLIN | POLLOUT, 0});
    std::vector<char> bytes(kProbeChunk);
    std::uint64_t received = 0;
    for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
      (void)poll(looks.data(), looks.size(), 20);
      for (const pollfd& look : looks) {
        if ((look.revents & POLLOUT) != 0)
          (void)send(look.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if ((look.revents & POLLIN) == 0) continue;
        const ssize_t n = recv(look.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (n > 0 && now >= count_from) received += static_cast<std::uint64_t>(n);
      }
    }
    return std::to_string(received);
  }

 private:
  const std::uint32_t machine_, machines_;
  Descriptor listener_;
  std::vector<Descriptor> peers_;
};

int RunProbeMachine(Child::Parent& parent, const EmulatedNetwork& network, std::uint32_t machine,
                    std::uint32_t machines) {
  if (const Status entered = network.EnterMachine(machine); !entered.ok()) return Fail(parent, entered);
  ProbeMachine probe(machine, machines);
  return Obey(parent, {{"listen", [&](const std::string&) { return probe.Listen(); }},
                       {"connect", [&](const std::string& ports) { return probe.Connect(ports); }},
                       {"run", [&](const std::string& ms) -> Result<std::string> {
                          return probe.Run(std::chrono::milliseconds(std::stol(ms)));
                        }}});
}

}  // namespace

Result<ProbeReport> ProbeNetwork(const EmulatedNetwork& network, std::uint32_t machines,
                                 std::chrono::milliseconds time) {
  Children children;
  for (std::uint32_t i = 0; i < machines; ++i) {
    children.push_back(std::make_unique<Child>(
        [&](Child::Parent& parent) { return RunProbeMachine(parent, network, i, machines); }));
  }
  LW_RETURN_IF_ERROR(HearAll(children, "ready"));
  std::string ports = "connect";
  for (const auto& child : children) {
    LW_RETURN_IF_ERROR(child->Tell("listen"));
    LW_ASSIGN_OR_RETURN(const std::string port, child->Hear());
    ports += " " + port;
  }
  for (const auto& child : children) LW_RETURN_IF_ERROR(child->Tell(ports));
  LW_RETURN_IF_ERROR(HearAll(children, "connected"));
  for (const auto& child : children) LW_RETURN_IF_ERROR(child->Tell(fmt::format("run {}", time.count())));
  const MachineTime before = MachineTimeNow();
  ProbeReport report{.gbit_s = INFINITY};
  for (const auto& child : children) {
    LW_ASSIGN_OR_RETURN(const std::string received, child->Hear());
    report.gbit_s = std::min(report.gbit_s, std::stod(received) * 8e-6 / static_cast<double>(time.count()));
  }
  report.idle = 1 - OthersShare(before, MachineTimeNow(), 0);
  return report;
}

Status CheckCarried(const ProbeReport& probe, LinkRate rate, std::uint32_t scale) {
  const LinkRate emulated{rate.bits_s / scale};
  if (probe.gbit_s >= kCarriedLeast * emulated.gbit_s()) return Status::Ok();
  // Half of what bare sockets reach: the processes of Leeway need the processor too.
  const LinkRate can = std::max(kLinkRateMin, LinkRate{static_cast<std::uint64_t>(probe.gbit_s / 2 * 1e9)});
  const auto factor = static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(rate.bits_s) / static_cast<double>(can.bits_s)));
  return FailedPrecondition(
      "--net: {} cannot be emulated here: the cards carried {:.2f} of {:.2f} Gbit/s, at {:.0f} % idle "
      "processor; "
      "wanted {:.0f} % of the rate or more. Use --net {} or less, or --scale {}, which divides sizes and "
      "rates",
      PrintLinkRate(rate), probe.gbit_s, emulated.gbit_s(), probe.idle * 100, kCarriedLeast * 100,
      PrintLinkRate(LinkRate{std::max(kLinkRateMin.bits_s, can.bits_s / 1'000'000 * 1'000'000)}), factor);
}

}  // namespace leeway::bench
