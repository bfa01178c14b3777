#include "transport/system/descriptor.h"

#include <unistd.h>

#include <system_error>

namespace leeway {

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

}  // namespace leeway
