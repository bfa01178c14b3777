// The bare peer: whole blocks there and back over one socket, with plain blocking send and recv.
//
// No event loop and nothing of Leeway: it is what the kernel gives, for comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency_histogram.h"
#include "shape.h"

namespace leeway::bench {

enum class RawKind : std::uint8_t { kTcp, kUnix };  // TCP over loopback, or a Unix stream socket

// A socket that listens, and where; aborts the process when the system gives no socket.
struct RawListener {
  int fd = -1;
  std::string address;  // the port, or the name in the kernel's own namespace: no file
};
RawListener RawListen(RawKind kind);
// Accepts one client and serves it until it closes: receives block i into its working set and sends it from
// there.
void RawServe(const RawListener& listener, const Shape& shape);

class RawClient {
 public:
  RawClient(RawKind kind, const std::string& address, const Shape& shape);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  // Keeps in_flight blocks under way for `seconds`, then waits for the last. Notes how long they took;
  // returns the pairs.
  std::uint64_t Run(double seconds, LatencyHistogram& latency);

 private:
  void SendNext();
  void ReceiveNext(LatencyHistogram& latency);

  const Shape shape_;
  int fd_;
  std::vector<char> there_, back_;  // the working set, one way and the other
  std::vector<std::uint64_t> sent_at_ns_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace leeway::bench
