// LinkStub: makes links for tests of a worker's parts, connects them, and ignores what comes in by them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "node/link.h"
#include "node/testing/fake_env.h"
#include "node/testing/handshake.h"

namespace leeway::testing {

class LinkStub : private LinkEvents {
 public:
  explicit LinkStub(FakeEnv& env) : env_(env) {}

  [[nodiscard]] std::unique_ptr<Link> Make(std::uint32_t link, const std::string& peer) {
    return std::make_unique<Link>(
        env_.env, LinkOptions(), []() -> Result<std::string> { return std::string("10.0.0.1:1"); }, link,
        peer, static_cast<LinkEvents&>(*this));
  }
  // Brings the link up.
  ConnectionId Connect(Link& link) {
    link.Start();
    const ConnectionId id = env_.transport.CompleteConnect();
    wire::pb::Welcome welcome;
    welcome.set_version(wire::kVersionMax);
    EXPECT_TRUE(Welcome(env_.transport, id, welcome).ok());
    return id;
  }

  [[nodiscard]] LinkEvents& events() { return *this; }

  std::function<void(std::uint32_t link)> on_up;

 private:
  wire::pb::Hello MakeHello(std::uint32_t) override { return {}; }
  void OnUp(std::uint32_t link, const wire::pb::Welcome&) override {
    if (on_up) on_up(link);
  }
  void OnDown(std::uint32_t, const Status&) override {}
  void OnFailed(std::uint32_t, const Status&) override {}
  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead&, std::span<const std::byte>) override {
    return Landing();
  }
  void OnFrame(std::uint32_t, const FrameHead&, std::span<const std::byte>, Landing&&) override {}

  FakeEnv& env_;
};

}  // namespace leeway::testing
