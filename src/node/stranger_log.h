// StrangerLog: warnings about peers that do not know how to behave, at a rate that strangers cannot raise.
//
// The first few are written as they come, then one every so often that says how many there were since. A port
// scan, or a thousand connections that say nothing, must neither fill a disk nor go unnoticed. Thread rule:
// that of Env.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/env.h"

namespace leeway {

class StrangerLog {
 public:
  StrangerLog(Clock& clock, Log& log) : clock_(clock), log_(log) {}
  ~StrangerLog() { Flush(); }
  StrangerLog(const StrangerLog&) = delete;
  StrangerLog& operator=(const StrangerLog&) = delete;

  // `what` names the peer and what it did.
  void Warn(std::string what);
  // Says how many were kept back, if any were.
  void Flush();

  static constexpr std::uint32_t kAtOnce = 20;
  static constexpr Duration kEvery = std::chrono::seconds(10);

 private:
  Clock& clock_;
  Log& log_;
  TimePoint since_;            // of the present stretch of kEvery
  std::uint32_t written_ = 0;  // in it
  std::uint64_t kept_back_ = 0;
  std::string last_;  // of those
};

}  // namespace leeway
