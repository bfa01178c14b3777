#include "role/secret_flags.h"

#include "process/secret_file.h"

namespace leeway::app {

SecretFlags::SecretFlags(const Environment& environment)
    : file_of_environment_(environment.Get(kSecretFileVariable).value_or("")),
      insecure_by_environment_(environment.Get(kInsecureVariable) == "1") {}

void SecretFlags::Declare(FlagSet& flags) {
  flags.Text("--secret-file", "FILE", file_, "the file with the job's secret [default: LEEWAY_SECRET_FILE]");
  flags.Switch("--insecure", insecure_,
               "the job has no secret: everybody who reaches its addresses may join (as LEEWAY_INSECURE=1)");
}

Result<std::string> SecretFlags::Take() const {
  const SecretSource source =
      !file_.empty() || insecure_
          ? SecretSource{.file = file_, .insecure = insecure_}
          : SecretSource{.file = file_of_environment_, .insecure = insecure_by_environment_};
  return TakeSecret(source, SecretTaker::kCommand);
}

}  // namespace leeway::app
