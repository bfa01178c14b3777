// StatusError: carries a Status of the core to Python, where it becomes an exception of leeway.errors.
#pragma once

#include <exception>
#include <utility>

#include "leeway/status.h"

namespace leeway {

struct StatusError : std::exception {
  explicit StatusError(Status s) : status(std::move(s)) {}
  [[nodiscard]] const char* what() const noexcept override { return status.message().c_str(); }
  Status status;
};

inline void Check(Status status) {
  if (!status.ok()) throw StatusError(std::move(status));
}

template <typename T>
T Check(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return std::move(result).value();
}

}  // namespace leeway
