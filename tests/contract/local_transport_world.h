// LocalTransportTest: a server and a client on this host, each with an Env of its own, on one thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "leeway/env.h"
#include "transport/real_env.h"
#include "transport/stream/address.h"
#include "transport/stream/stream_options.h"
#include "transport_recorder.h"

namespace leeway::contract {

class KeptLog final : public Log {
 public:
  void Write(LogLevel, std::string_view line) override { text += std::string(line) + "\n"; }
  std::string text;
};

class LocalTransportTest : public ::testing::Test {
 protected:
  void Listen(const StreamOptions& options = {}, const std::string& at = "127.0.0.1:0") {
    server_ = std::make_unique<RealEnv>(log_, options);
    node_ = std::make_unique<TransportRecorder>(server_->env());
    const Result<std::string> address = node_->Listen(at);
    ASSERT_TRUE(address.ok()) << address.status().ToString();
    address_ = *address;
  }
  void Connect(const StreamOptions& options = {}) {
    client_ = std::make_unique<RealEnv>(log_, options);
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

}  // namespace leeway::contract
