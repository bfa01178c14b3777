// TransportWorld: two Envs that can reach each other, for the contract that every transport keeps.
//
// A transport joins the suite with a file <name>_world.cc beside this one that defines a Make function, and a
// row in transport_worlds.def.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "leeway/env.h"
#include "leeway/transport.h"

namespace leeway::contract {

// A peer that sends bytes of its own choice, not frames.
class RawPeer {
 public:
  virtual ~RawPeer() = default;  // closes
  virtual void Write(std::span<const std::byte> bytes) = 0;
};

class TransportWorld {
 public:
  virtual ~TransportWorld() = default;
  virtual Env& server() = 0;
  virtual Env& client() = 0;
  // What `server` may listen at, and an address where nobody does.
  [[nodiscard]] virtual std::string ListenAddress() = 0;
  [[nodiscard]] virtual std::string DeadAddress() = 0;
  // Runs both Envs until `done` (asked after every step), or until a limit of the world's own; returns
  // done().
  virtual bool RunUntil(const std::function<bool()>& done) = 0;
  // Runs both Envs for `time` of their clocks.
  virtual void RunFor(Duration time) = 0;
  // A frame can be half there.
  [[nodiscard]] virtual bool CutsFrames() const { return true; }
  // Connects bytes to an address where `server` listens; null if the world cannot.
  virtual std::unique_ptr<RawPeer> ConnectRaw(const std::string& address) = 0;
};

#define LW_TRANSPORT_WORLD(name, make) std::unique_ptr<TransportWorld> make();
#include "transport_worlds.def"
#undef LW_TRANSPORT_WORLD

}  // namespace leeway::contract
