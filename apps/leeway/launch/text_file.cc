#include "launch/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/errors.h"

namespace leeway::app {

Status WriteTextFile(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, getpid());
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      const int error = errno;
      std::remove(beside.c_str());  // half of it, when the disk is full
      return NotFound("cannot write {}: {}", beside, std::strerror(error));
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(beside.c_str());
    return NotFound("cannot write {}: {}", path, std::strerror(error));
  }
  return Status::Ok();
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read {}: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace leeway::app
