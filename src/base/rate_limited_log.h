// RateLimitedLog: writes warnings that a peer can cause, at a rate that no peer can raise.
//
// It writes the first few warnings as they come. After that it writes one line per kEvery, which counts the
// warnings since the last one. So a port scan neither fills a disk nor goes unnoticed. Thread rule: as for
// Env.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  // As Warn, but a warning that this period has seen already is dropped: a peer that tries again says nothing
  // new.
  void WarnOnce(const std::string& what);
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
  std::string last_;               // the last suppressed warning
  std::vector<std::string> once_;  // of WarnOnce, at most kAtOnce of this period
};

}  // namespace leeway
