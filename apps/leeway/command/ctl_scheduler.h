// CtlScheduler: the scheduler that `leeway ctl` asks, and how long it waits for the answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "base/errors.h"
#include "cli/flag_set.h"
#include "leeway/status.h"
#include "process/address_source.h"
#include "role/secret_flags.h"
#include "status/monitor_client.h"
#include "system/environment.h"
#include "terminal/error_output.h"
#include "terminal/quantity.h"

namespace leeway::app {

class CtlScheduler {
 public:
  explicit CtlScheduler(const Program& program)
      : where_(program.environment.Get("LEEWAY_SCHEDULER").value_or("")), secret_(program.environment) {}

  void Declare(FlagSet& flags, std::chrono::milliseconds limit) {
    limit_ = limit;
    flags.Text("--scheduler", "WHERE", where_,
               "its address host:port or local:NAME, or file:PATH that holds it [default: LEEWAY_SCHEDULER]");
    secret_.Declare(flags);
    flags.Time("--timeout", limit_, "how long to wait for the answer");
  }

  [[nodiscard]] Result<MonitorOptions> Options() const {
    if (where_.empty()) {
      return InvalidArgument(
          "--scheduler: not given, and LEEWAY_SCHEDULER is not set; wanted host:port or file:PATH of the "
          "job's scheduler");
    }
    LW_RETURN_IF_ERROR(CheckAddress(where_).WithContext("--scheduler"));
    MonitorOptions options;
    options.scheduler = where_;
    LW_ASSIGN_OR_RETURN(options.secret, secret_.Take());
    options.every = std::chrono::milliseconds(0);
    // One that was killed is back within seconds when `leeway run` looks after it. The client gives up before
    // the limit: it knows why it cannot connect, and Await does not.
    options.give_up_after = std::min<std::chrono::milliseconds>(limit_ * 3 / 4, kReach);
    return options;
  }
  // Waits for what `take` finds, for an end of all hope, or for the limit.
  template <typename Take>
  auto Await(MonitorClient& monitor, Take take) -> Result<typename decltype(take())::value_type> {
    const auto until = std::chrono::steady_clock::now() + limit_;
    bool said = false;
    for (;;) {
      if (auto got = take()) return std::move(*got);
      if (Status failed = monitor.failure(); !failed.ok()) return failed;
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) {
        const Status address = MakeAddressSource(where_)().status();
        return DeadlineExceeded("no answer from the scheduler at {} within {}{}", where_, PrintTime(limit_),
                                address.ok() ? "" : ": " + address.message());
      }
      monitor.WaitForNews(said ? left : std::min(left, kSilence));
      if (!said && std::chrono::steady_clock::now() > until - limit_ + kSilence) {
        said = true;
        PrintError("leeway: waiting for the scheduler at {} (--timeout {})\n", where_, PrintTime(limit_));
      }
    }
  }

 private:
  static constexpr std::chrono::milliseconds kReach{10'000};
  static constexpr std::chrono::milliseconds kSilence{2'000};  // a longer wait is spoken of
  std::string where_;
  SecretFlags secret_;
  std::chrono::milliseconds limit_{};
};

}  // namespace leeway::app
