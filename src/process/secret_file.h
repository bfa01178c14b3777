// The file that holds a job's secret: how a process gets the one of its job, and how a new one is made.
//
// A file is as safe as who may read it: one that others may read, or that belongs to another user, is
// refused. All calls are for any thread.
#pragma once

#include <string>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

// 32 bytes of the system's random source, as 64 hexadecimal digits.
[[nodiscard]] Result<std::string> NewSecret();
// Returns the contents of the file, without the end of its line.
[[nodiscard]] Result<std::string> ReadSecretFile(const std::string& path);
// Makes the file, which must not exist, for this user alone, with a new secret, and returns that.
[[nodiscard]] Result<std::string> MakeSecretFile(const std::string& path);

// How the process of a role gets its secret: it is given (`given`), or it is in `file`, or `insecure` says
// that the job has none. If none is given, the result is an error that lists the choices.
struct SecretSource {
  std::string given = {};
  std::string file = {};
  bool insecure = false;
};
[[nodiscard]] Result<std::string> TakeSecret(const SecretSource& source);

}  // namespace leeway
