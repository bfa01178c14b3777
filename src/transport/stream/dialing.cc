#include "transport/stream/dialing.h"

#include <algorithm>
#include <cerrno>

#include "base/errors.h"
#include "transport/system/descriptor.h"

namespace leeway {

std::optional<Endpoint> Dialing::Begin(const std::string& peer) {
  peer_ = peer;
  if (IsLocal(peer)) {
    BeginLocal();
    return std::nullopt;
  }
  Result<Endpoint> endpoint = Endpoint::Parse(peer);
  if (!endpoint.ok()) {
    failure_ = endpoint.status().WithContext("cannot connect");
    return std::nullopt;
  }
  AddAddresses(NumericAddresses(*endpoint));
  if (!candidates_.empty()) return std::nullopt;
  return *std::move(endpoint);
}

void Dialing::BeginLocal() {
  const Result<std::string> name = ParseLocal(peer_);
  if (!name.ok()) {
    failure_ = name.status().WithContext("cannot connect");
  } else if (name->empty()) {
    failure_ = InvalidArgument("cannot connect to {}: it has no name, wanted {}NAME", peer_, kLocalPrefix);
  } else if (options_.carrier == Carrier::kTcp) {
    failure_ = Unavailable("cannot connect to {}: it is a Unix socket, and the transport is tcp", peer_);
  } else {
    candidates_.push_back(SocketAddress::Local(*name));
  }
}

void Dialing::AddAddresses(const std::vector<SocketAddress>& tcp) {
  const Carrier carrier = options_.carrier;
  if (carrier == Carrier::kAuto || carrier == Carrier::kTcp) candidates_.assign(tcp.rbegin(), tcp.rend());
  if (carrier == Carrier::kTcp) return;
  // A process of this host listens at a Unix socket of the same name, or connect refuses at once.
  for (auto address = tcp.rbegin(); address != tcp.rend(); ++address) {
    if (!address->IsOwn()) continue;
    for (const SocketAddress& all : address->Wildcards()) candidates_.push_back(SocketAddress::LocalOf(all));
    candidates_.push_back(SocketAddress::LocalOf(*address));
  }
  if (candidates_.empty() && !tcp.empty()) {
    failure_ = Unavailable("cannot connect to {}: it is on another host, and the transport is {}", peer_,
                           carrier == Carrier::kUds ? "uds" : "local");
  }
}

Status Dialing::OnResolved(const Result<std::vector<SocketAddress>>& found) {
  if (!found.ok()) return found.status().WithContext("cannot connect to " + peer_);
  failure_ = Unavailable("cannot connect to {}: the host has no address", peer_);
  AddAddresses(*found);
  return Status::Ok();
}

std::optional<SocketAddress> Dialing::Next() {
  if (candidates_.empty()) return std::nullopt;
  const SocketAddress next = candidates_.back();
  candidates_.pop_back();
  return next;
}

void Dialing::OnRefused(const SocketAddress& at, int error) {
  // The answer of TCP says more than the absence of a Unix socket.
  if (!at.IsUnix() || failure_.ok()) OnConnectError(error);
}

void Dialing::OnConnectError(int error) {
  failure_ = error == ECONNREFUSED
                 ? Unavailable("cannot connect to {}: connection refused (nobody listens there)", peer_)
                 : Unavailable("cannot connect to {}: {}", peer_, ErrnoText(error));
}

void Dialing::OnNotShared(const Status& why) {
  failure_ = Unavailable("cannot connect to {} over its Unix socket: {}", peer_, why.message());
}

void Dialing::DropUnix() {
  while (!candidates_.empty() && candidates_.back().IsUnix()) candidates_.pop_back();
}

Duration Dialing::GreetingTime(TimePoint now) {
  if (!greeting_until_) greeting_until_ = now + options_.greeting_max;
  return std::max<Duration>(*greeting_until_ - now, Duration::zero());
}

}  // namespace leeway
