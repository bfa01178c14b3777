// MonitorClient: asks a scheduler for its status, again and again, on a thread of its own.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace leeway::app {

class MonitorClient {
 public:
  // Starts to connect to `scheduler` ("host:port") and asks every `every`; reconnects by itself.
  MonitorClient(const std::string& scheduler, const std::string& job, std::chrono::milliseconds every);
  ~MonitorClient();
  MonitorClient(const MonitorClient&) = delete;
  MonitorClient& operator=(const MonitorClient&) = delete;

  // The status JSON that came since the last call; nothing when none did. Any thread.
  [[nodiscard]] std::optional<std::string> Take();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace leeway::app
