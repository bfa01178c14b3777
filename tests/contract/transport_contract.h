// TransportContract: the fixture of the tests that every transport passes (transport_worlds.def).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "leeway/arena.h"
#include "transport_recorder.h"
#include "transport_world.h"

namespace leeway::contract {

struct WorldRow {
  const char* name;
  std::unique_ptr<TransportWorld> (*make)();
};

inline constexpr WorldRow kWorlds[] = {
#define LW_TRANSPORT_WORLD(name, make) {#name, &make},
#include "transport_worlds.def"
#undef LW_TRANSPORT_WORLD
};

// Bytes that differ from place to place and from frame to frame.
inline std::string Pattern(std::size_t bytes, unsigned salt) {
  std::string text(bytes, '\0');
  unsigned x = salt * 2654435761U + 1;
  for (char& c : text) {
    x = x * 1664525U + 1013904223U;
    c = static_cast<char>(x >> 24);
  }
  return text;
}

using Text = std::shared_ptr<const std::string_view>;  // shared: lent to sends, watched by the test
inline Pinned PinnedText(const Text& text) { return {std::as_bytes(std::span(*text)), text}; }

class TransportContract : public ::testing::TestWithParam<WorldRow> {
 protected:
  void SetUp() override {
    Result<std::string> address = server_.Listen(world_->ListenAddress());
    ASSERT_TRUE(address.ok()) << address.status().ToString();
    address_ = *address;
  }

  // In the client's arena: what it sends from there may be shared.
  Text Lend(const std::string& text) {
    struct Lent {
      std::shared_ptr<std::byte> memory;  // as the arena gives it
      std::string_view text;
    };
    auto lent = std::make_shared<Lent>();
    lent->memory = world_->client().arena.Allocate(text.size(), Arena::Use::kSent);
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), lent->memory.get());
    lent->text = {reinterpret_cast<const char*>(lent->memory.get()), text.size()};
    return {lent, &lent->text};
  }

  // In no arena: its bytes are sent.
  static Text LendOutside(std::string text) {
    struct Lent {
      std::string kept;
      std::string_view text;
    };
    auto lent = std::make_shared<Lent>(Lent{std::move(text), {}});
    lent->text = lent->kept;
    return {lent, &lent->text};
  }

  // Connects the client to the server; both ends have large limits.
  void Join() {
    const std::size_t before = server_.accepted.size();
    to_server_ = client_.Connect(address_);
    ASSERT_TRUE(
        world_->RunUntil([&] { return !client_.connected.empty() && server_.accepted.size() > before; }));
    ASSERT_EQ(client_.connected.back(), to_server_);
    to_client_ = server_.accepted.back();
  }

  std::unique_ptr<TransportWorld> world_ = GetParam().make();
  TransportRecorder server_{world_->server()};
  TransportRecorder client_{world_->client()};
  std::string address_;
  ConnectionId to_server_, to_client_;
};

}  // namespace leeway::contract
