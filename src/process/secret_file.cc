#include "process/secret_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/errors.h"
#include "transport/system/descriptor.h"

namespace leeway {
namespace {

constexpr std::size_t kSecretBytes = 32;
// Limits of the file. A shorter secret could be guessed; a longer file is some other file.
constexpr std::size_t kFileBytesMin = 32, kFileBytesMax = 4096;

Status CheckOwner(const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return InvalidArgument("the secret file {} is no file", path);
  if (about.st_uid != geteuid()) {
    return InvalidArgument(
        "the secret file {} belongs to user {}, and this process runs as user {}: make one of your own, or: "
        "chown {} {}",
        path, about.st_uid, geteuid(), geteuid(), path);
  }
  if ((about.st_mode & 077U) != 0) {
    return InvalidArgument(
        "the secret file {} has mode {:04o}, so others may read it; wanted 0600: chmod 600 {}", path,
        about.st_mode & 07777U, path);
  }
  return Status::Ok();
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  std::string text(kFileBytesMax + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(fd, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Unavailable("cannot read the secret file {}: {}", path, ErrnoText(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<std::string> NewSecret() {
  std::array<unsigned char, kSecretBytes> bytes{};
  // At most 256 bytes, which getrandom gives whole.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Internal("the system gives no random bytes: {}", ErrnoText(errno));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Result<std::string> ReadSecretFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd() < 0) {
    const int error = errno;
    const std::string what = fmt::format("cannot open the secret file {}: {}", path, ErrnoText(error));
    return error == ENOENT ? NotFound("{}", what) : InvalidArgument("{}", what);
  }
  struct stat about {};
  if (fstat(file.fd(), &about) != 0)
    return Unavailable("cannot look at the secret file {}: {}", path, ErrnoText(errno));
  LW_RETURN_IF_ERROR(CheckOwner(path, about));
  LW_ASSIGN_OR_RETURN(std::string text, ReadAll(file.fd(), path));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.size() < kFileBytesMin || text.size() > kFileBytesMax) {
    return InvalidArgument(
        "the secret file {} has {}{} bytes, wanted {} to {}: head -c 32 /dev/urandom | base64 > {}", path,
        text.size() > kFileBytesMax ? "more than " : "", std::min(text.size(), kFileBytesMax), kFileBytesMin,
        kFileBytesMax, path);
  }
  return text;
}

Result<std::string> MakeSecretFile(const std::string& path) {
  LW_ASSIGN_OR_RETURN(std::string secret, NewSecret());
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.fd() < 0) {
    const int error = errno;
    const std::string what = fmt::format("cannot make the secret file {}: {}", path, ErrnoText(error));
    return error == EEXIST ? AlreadyExists("{}", what) : InvalidArgument("{}", what);
  }
  const std::string line = secret + "\n";
  if (write(file.fd(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    const int error = errno;
    unlink(path.c_str());
    return ResourceExhausted("cannot write the secret file {}: {}", path, ErrnoText(error));
  }
  return secret;
}

Result<std::string> TakeSecret(const SecretSource& source, SecretTaker taker) {
  const bool secret = !source.given.empty() || !source.file.empty();
  const bool of_command = taker == SecretTaker::kCommand;
  if (secret && source.insecure) {
    return InvalidArgument("both a secret and {} are given, wanted one of them",
                           of_command ? "--insecure (LEEWAY_INSECURE=1)" : "LEEWAY_INSECURE=1");
  }
  if (!source.given.empty()) return source.given;
  if (!source.file.empty()) return ReadSecretFile(source.file);
  if (source.insecure) return std::string();
  if (of_command) {
    return InvalidArgument(
        "the job's secret is not given: wanted the file that holds it, by --secret-file FILE or "
        "LEEWAY_SECRET_FILE=FILE (a new one: (umask 077; head -c 32 /dev/urandom | base64 > job.secret)); or "
        "--insecure (LEEWAY_INSECURE=1), which lets in everybody who reaches the job's addresses");
  }
  return InvalidArgument(
      "the job's secret is not given: wanted the file that the scheduler was started with, by "
      "LEEWAY_SECRET_FILE=FILE in the environment or by the argument secret_file of init(); or "
      "LEEWAY_INSECURE=1, if the job has no secret");
}

}  // namespace leeway
