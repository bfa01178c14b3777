// RateLimitedLog: writes warnings that a peer can cause, at a rate that no peer can raise.
//
// It writes the first few warnings as they come. After that it writes one line per kEvery, which counts the
// warnings since the last one. So a port scan neither fills a disk nor goes unnoticed. Thread rule: as for
// Env.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/env.h"

namespace leeway {

class RateLimitedLog {
 public:
  RateLimitedLog(const Clock& clock, Log& log) : clock_(clock), log_(log) {}
  ~RateLimitedLog() { Flush(); }
  RateLimitedLog(const RateLimitedLog&) = delete;
  RateLimitedLog& operator=(const RateLimitedLog&) = delete;

  // `what` names the peer or the address, and the problem.
  void Warn(std::string what);
  // Writes the number of suppressed warnings, if there are any.
  void Flush();

  static constexpr std::uint32_t kAtOnce = 20;
  static constexpr Duration kEvery = std::chrono::seconds(10);

 private:
  const Clock& clock_;
  Log& log_;
  TimePoint since_;            // when the present period of kEvery began
  std::uint32_t written_ = 0;  // warnings written in this period
  std::uint64_t kept_back_ = 0;
  std::string last_;  // the last suppressed warning
};

}  // namespace leeway
