// The file that holds a job's secret: how a process gets the one of its job, and how a new one is made.
//
// A file is as safe as who may read it: one that others may read, or that belongs to another user, is
// refused. All calls are for any thread.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

// 32 bytes of the system's random source, as 64 hexadecimal digits.
[[nodiscard]] Result<std::string> NewSecret();
// Returns the contents of the file, without the end of its line.
[[nodiscard]] Result<std::string> ReadSecretFile(const std::string& path);
// Creates the file, which must not exist, for this user alone, with a new secret, and returns the secret.
[[nodiscard]] Result<std::string> MakeSecretFile(const std::string& path);

// The taker of a secret, because messages name the ways that it has: flags of a command, or arguments of a
// script.
enum class SecretTaker : std::uint8_t { kCommand, kScript };

// The source of a role's secret: `given`, or `file`, or `insecure` for a job without one. Without any of them
// the result is an error that lists the choices.
struct SecretSource {
  std::string given = {};
  std::string file = {};
  bool insecure = false;
};
[[nodiscard]] Result<std::string> TakeSecret(const SecretSource& source, SecretTaker taker);

}  // namespace leeway
