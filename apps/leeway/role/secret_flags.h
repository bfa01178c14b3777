// SecretFlags: how a command that is started by hand gets the job's secret: --secret-file or --insecure, and
// the variables LEEWAY_SECRET_FILE and LEEWAY_INSECURE where it has neither. Never a flag with the secret
// itself: everybody on a host sees the arguments of every process.
#pragma once

#include <string>

#include "cli/flag_set.h"
#include "leeway/status.h"
#include "system/environment.h"

namespace leeway::app {

inline constexpr std::string_view kSecretFileVariable = "LEEWAY_SECRET_FILE";
inline constexpr std::string_view kInsecureVariable = "LEEWAY_INSECURE";

class SecretFlags {
 public:
  explicit SecretFlags(const Environment& environment);

  void Declare(FlagSet& flags);
  // The secret; empty where the job has none. An error says what was wanted.
  [[nodiscard]] Result<std::string> Take() const;

 private:
  std::string file_;
  bool insecure_ = false;
  std::string file_of_environment_;
  bool insecure_by_environment_ = false;
};

}  // namespace leeway::app
