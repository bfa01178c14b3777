#include "bench/cluster/emulated_network.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/errors.h"
#include "bench/capture.h"
#include "bench/child.h"

namespace leeway::bench {
namespace {

constexpr std::string_view kNetworkRights =
    "wanted the rights to make network namespaces: run it as root, or as `unshare --user --map-root-user "
    "leeway bench train ...`, or with --net none on the loopback of this machine";

// A bucket of 256 kB carries 1 Gbit/s at 0.93 to 0.96 of it; with 64 kB or less the rate breaks down to 0.13
// to 0.59. Slower cards have smaller buckets, so that the part of a step which passes at once stays as small.
// The smallest holds one of TCP's large segments.
constexpr double kBucketSeconds = 2.1e-3;
constexpr double kBucketLeastBytes = 64'000;

Status Enter(const Descriptor& network) {
  if (setns(network.fd(), CLONE_NEWNET) == 0) return Status::Ok();
  return FailedPrecondition("cannot enter a network namespace: {}", ErrnoText(errno));
}

// A child makes the namespace: a process that has only the rights of a user namespace could not come back.
Result<Descriptor> NewNetwork() {
  Child maker([](Child::Parent& parent) {
    if (unshare(CLONE_NEWNET) != 0) {
      return Fail(parent, FailedPrecondition("cannot make a network namespace ({}); {}", ErrnoText(errno),
                                             kNetworkRights));
    }
    parent.Tell("ok made");
    (void)parent.Hear();
    return 0;
  });
  LW_RETURN_IF_ERROR(maker.Hear().status());
  Descriptor made(open(fmt::format("/proc/{}/ns/net", maker.pid()).c_str(), O_RDONLY | O_CLOEXEC));
  if (made.fd() < 0) return ResourceExhausted("cannot open a network namespace: {}", ErrnoText(errno));
  return made;
}

// Runs `tool -batch -` on these lines inside a namespace. Its complaint becomes the error.
Status RunBatch(const Descriptor& network, const std::string& tool, const std::string& lines) {
  LW_ASSIGN_OR_RETURN(const std::string path, FindNetworkTool(tool));
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceExhausted("cannot make a pipe: {}", ErrnoText(errno));
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  // The lines of one call are far shorter than a pipe.
  const bool written =
      write(write_end.fd(), lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
  write_end = Descriptor();
  LW_ASSIGN_OR_RETURN(Captured ended, Capture([&] {
                        if (!Enter(network).ok() || dup2(read_end.fd(), STDIN_FILENO) < 0 ||
                            dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
                          return 126;
                        execl(path.c_str(), path.c_str(), "-batch", "-", static_cast<char*>(nullptr));
                        return 127;
                      }));
  if (ended.exit_code == 0 && written) return Status::Ok();
  std::ranges::replace(ended.out, '\n', ' ');
  return FailedPrecondition("{} ended with exit code {}: {}; {}", path, ended.exit_code, ended.out,
                            kNetworkRights);
}

std::string BucketLine(const std::string& card, LinkRate rate) {
  const double bucket = std::max(rate.bytes_s() * kBucketSeconds, kBucketLeastBytes);
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {:.0f}b latency 20ms\n", card, rate.bits_s,
                     bucket);
}

}  // namespace

Result<std::string> FindNetworkTool(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
    const std::string path = folder + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return NotFound("cannot find the program {}; Debian's package iproute2 has it", name);
}

std::string EmulatedNetwork::MachineAddress(std::uint32_t machine) {
  return fmt::format("10.77.0.{}", machine + 1);
}

std::string EmulatedNetwork::BridgeAddress() { return "10.77.0.254"; }

Result<std::unique_ptr<EmulatedNetwork>> EmulatedNetwork::Make(std::uint32_t machines,
                                                               std::optional<LinkRate> rate) {
  if (machines < 1 || machines > kMachinesMax)
    return InvalidArgument("machines of a network: got {}, wanted 1 to {}", machines, kMachinesMax);
  auto network = std::make_unique<EmulatedNetwork>();
  LW_ASSIGN_OR_RETURN(network->bridge_, NewNetwork());
  LW_RETURN_IF_ERROR(RunBatch(network->bridge_, "ip",
                              fmt::format("link set lo up\nlink add br0 type bridge\nlink set br0 up\n"
                                          "addr add {}/24 dev br0\n",
                                          BridgeAddress())));
  for (std::uint32_t i = 0; i < machines; ++i) {
    LW_ASSIGN_OR_RETURN(Descriptor machine, NewNetwork());
    network->machines_.push_back(std::move(machine));
    LW_RETURN_IF_ERROR(network->Connect(i, rate));
  }
  return network;
}

Status EmulatedNetwork::Connect(std::uint32_t machine, std::optional<LinkRate> rate) const {
  const Descriptor& inside = machines_[machine];
  const std::string port = fmt::format("port{}", machine);
  LW_RETURN_IF_ERROR(RunBatch(
      bridge_, "ip",
      fmt::format("link add {} type veth peer name {} netns /proc/{}/fd/{}\nlink set {} master br0 up\n",
                  port, kCard, getpid(), inside.fd(), port)));
  LW_RETURN_IF_ERROR(RunBatch(inside, "ip",
                              fmt::format("link set lo up\naddr add {}/24 dev {}\nlink set {} up\n",
                                          MachineAddress(machine), kCard, kCard)));
  if (!rate) return Status::Ok();
  LW_RETURN_IF_ERROR(RunBatch(bridge_, "tc", BucketLine(port, *rate)));
  return RunBatch(inside, "tc", BucketLine(kCard, *rate));
}

Status EmulatedNetwork::EnterMachine(std::uint32_t machine) const { return Enter(machines_[machine]); }

Status EmulatedNetwork::EnterBridge() const { return Enter(bridge_); }

}  // namespace leeway::bench
