// ConsoleLog: log lines to stderr, one write per line, thread-safe: "12:03:44.120 W server 1.0: ...".
//
// Every line of every node passes here, so this is where the text of peers becomes printable.
#pragma once

#include <mutex>
#include <string>

#include "leeway/env.h"

namespace leeway {

class ConsoleLog final : public Log {
 public:
  ConsoleLog(std::string who, LogLevel least);
  void Write(LogLevel level, std::string_view line) override;
  // Sets the name in later lines: a worker learns its rank late.
  void SetWho(std::string who);

 private:
  const LogLevel least_;
  std::mutex mutex_;
  std::string who_;
};

}  // namespace leeway
