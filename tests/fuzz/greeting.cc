// Any frames before a welcome, to a node that listens and to one that connects: no crash, and without the
// job's secret nobody is let in, told anything of the job, or given more than a hello.
//
// Input: frames, each a byte for its kind, a u16 for the bytes of its body, the body.
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "fuzz_target.h"
#include "node/inbound.h"
#include "node/link.h"
#include "node/testing/fake_env.h"

namespace leeway {
namespace {

constexpr const char* kFuzzSecret = "a secret that no input can know.";
constexpr const char* kFuzzJob = "the name of the job";

LinkOptions FuzzOptions() {
  LinkOptions options;
  options.secret = kFuzzSecret;
  return options;
}

class NobodyIn final : public InboundEvents {
 public:
  Result<wire::pb::Welcome> OnHello(ConnectionId, const wire::pb::Hello&) override {
    LW_CHECK(false, "a stranger was let in");
  }
  void OnWelcomed(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Protocol("no payload is wanted");
  }
  Status OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override {
    LW_CHECK(false, "a frame of a stranger was passed on");
  }
  void OnGone(ConnectionId, Parting, const Status&) override { LW_CHECK(false, "a stranger was a peer"); }
};

class NeverUp final : public LinkEvents {
 public:
  wire::pb::Hello MakeHello(std::uint32_t) override { return {}; }
  void OnUp(std::uint32_t, const wire::pb::Welcome&) override {
    LW_CHECK(false, "a stranger was taken for the peer");
  }
  void OnDown(std::uint32_t, const Status&) override {}
  void OnFailed(std::uint32_t, const Status& why) override { LW_CHECK(!why.ok()); }
  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead&, std::span<const std::byte>) override {
    return Protocol("no payload is wanted");
  }
  void OnFrame(std::uint32_t, const FrameHead&, std::span<const std::byte>, Landing&&) override {
    LW_CHECK(false, "a frame of a stranger was passed on");
  }
};

// Gives the frames of `input` to `id` until it is closed.
void DeliverAll(testing::FakeTransport& transport, ConnectionId id, std::span<const std::byte> input) {
  while (input.size() >= 3 && transport.IsOpen(id)) {
    std::uint16_t bytes = 0;
    std::memcpy(&bytes, input.data() + 1, sizeof bytes);
    const auto kind = static_cast<wire::Kind>(input[0]);
    const std::size_t taken = std::min<std::size_t>(bytes, input.size() - 3);
    (void)transport.Deliver(id, kind, input.subspan(3, taken));
    input = input.subspan(3 + taken);
  }
}

void ToListener(std::span<const std::byte> input) {
  testing::FakeEnv world;
  NobodyIn events;
  Inbound inbound(world.env, FuzzOptions(), kFuzzJob, events);
  LW_CHECK(inbound.Listen("127.0.0.1:0").ok());
  const ConnectionId id = world.transport.Accept();
  DeliverAll(world.transport, id, input);
  for (const testing::SentFrame& frame : world.transport.sent) {
    LW_CHECK(frame.kind == wire::Kind::kChallenge || frame.kind == wire::Kind::kWelcome);
    const std::string_view text(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
    LW_CHECK(text.find(kFuzzJob) == std::string_view::npos &&
             text.find(kFuzzSecret) == std::string_view::npos);
  }
  world.Advance(std::chrono::seconds(3));
  LW_CHECK(!world.transport.IsOpen(id) && inbound.half_open() == 0, "a stranger stays");
}

void ToConnector(std::span<const std::byte> input) {
  testing::FakeEnv world;
  NeverUp events;
  const auto where = [] { return Result<std::string>(std::string("127.0.0.1:9")); };
  Link link(world.env, FuzzOptions(), where, 0, "scheduler", events);
  link.Start();
  DeliverAll(world.transport, world.transport.CompleteConnect(), input);
  LW_CHECK(!link.up() && world.transport.sent.size() == 1, "{} frames sent", world.transport.sent.size());
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  leeway::ToListener(input);
  leeway::ToConnector(input);
  return 0;
}
