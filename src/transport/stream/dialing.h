// Dialing: the addresses that one Connect tries, in order, and why the last of them failed.
//
// An address of this host is tried at its Unix sockets first, then over TCP. Dialing opens no socket:
// StreamConnection does, and reports the outcome of each address. Thread rule: the loop's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/status.h"
#include "transport/stream/address.h"
#include "transport/stream/stream_options.h"

namespace leeway {

class Dialing {
 public:
  explicit Dialing(const StreamOptions& options) : options_(options) {}

  // StreamConnection calls this once, first. Returns a host name that has to be looked up before Next gives
  // an address.
  [[nodiscard]] std::optional<Endpoint> Begin(const std::string& peer);
  // The look-up has ended. An error is final.
  [[nodiscard]] Status OnResolved(const Result<std::vector<SocketAddress>>& found);
  // Returns the next address to try, or nothing if all have failed.
  [[nodiscard]] std::optional<SocketAddress> Next();

  // These tell why the address that Next gave last does not work.
  void OnNoSocket(const Status& why) { failure_ = why; }
  void OnRefused(const SocketAddress& at, int error);
  // The connect began, and failed later.
  void OnConnectError(int error);
  void OnNotShared(const Status& why);
  // The time of all Unix sockets is over: only TCP is left to try.
  void DropUnix();
  // Returns how long the peer may still take to greet: the time is for all of its Unix sockets together.
  [[nodiscard]] Duration GreetingTime(TimePoint now);

  [[nodiscard]] const Status& failure() const { return failure_; }

 private:
  void BeginLocal();
  void AddAddresses(const std::vector<SocketAddress>& tcp);

  const StreamOptions& options_;
  std::string peer_;
  std::vector<SocketAddress> candidates_;  // still to try, the next one last
  std::optional<TimePoint> greeting_until_;
  Status failure_;
};

}  // namespace leeway
