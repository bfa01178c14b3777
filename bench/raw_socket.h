// The bare peer: whole blocks there and back over one TCP socket, with plain blocking send and recv.
//
// No Asio and nothing of Leeway: it is what the kernel gives, for comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leeway::bench {

struct RawShape {
  std::size_t block_bytes = 0;
  std::size_t blocks = 0;
  std::size_t in_flight = 0;
};

// A socket that listens on loopback, and its port; aborts the process when there is none to be had.
struct RawListener {
  int fd = -1;
  std::uint16_t port = 0;
};
RawListener RawListen();
// Accepts one client and serves it until it closes: receives block i into its working set and sends it from
// there.
void RawServe(const RawListener& listener, const RawShape& shape);

class RawClient {
 public:
  RawClient(std::uint16_t port, const RawShape& shape);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  // Keeps in_flight blocks under way for `seconds`, then waits for the last. Adds to `latencies_us`; returns
  // the pairs.
  std::uint64_t Run(double seconds, std::vector<float>& latencies_us);

 private:
  void SendNext();
  void ReceiveNext(std::vector<float>& latencies_us);

  const RawShape shape_;
  int fd_;
  std::vector<char> there_, back_;  // the working set, one way and the other
  std::vector<double> sent_at_us_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace leeway::bench
