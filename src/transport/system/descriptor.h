// Descriptor: owns one descriptor of the system, of any kind. -1 means that it owns nothing.
#pragma once

#include <string>
#include <utility>

namespace leeway {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// "connection refused", ... for an errno value.
[[nodiscard]] std::string ErrnoText(int error);

}  // namespace leeway
