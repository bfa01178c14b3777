// Status and Result: report every error that a peer, a user, a file or the network can cause.
//
// The core throws nothing. A message says what, which, got, wanted. Values are plain; threads may copy them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace leeway {

enum class StatusCode : std::uint8_t {
  kOk = 0,
  kInvalidArgument,     // the caller's input is wrong; a retry changes nothing
  kNotFound,            // no such table, file, policy, ...
  kAlreadyExists,       // defined before, and differently
  kFailedPrecondition,  // right input at the wrong time
  kResourceExhausted,   // a stated limit was reached
  kProtocol,            // a peer sent bytes that break the protocol
  kInternal,            // our own bug, caught before it did harm
  kUnavailable,         // a peer cannot be reached (worth retrying)
  kDeadlineExceeded,    // a wait reached its limit (worth retrying)
  kFenced,              // this life was declared dead or replaced (worth retrying)
  kCancelled,           // the caller asked to stop (worth retrying)
};

[[nodiscard]] std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::make_unique<const std::string>(std::move(message))) {}
  Status(const Status& other) : code_(other.code_), message_(other.CopyOfMessage()) {}
  Status(Status&&) = default;
  Status& operator=(const Status& other) { return *this = Status(other); }
  Status& operator=(Status&&) = default;
  ~Status() = default;
  static Status Ok() { return {}; }

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_ != nullptr ? *message_ : NoMessage(); }
  // "ok", or "<code name>: <message>".
  [[nodiscard]] std::string ToString() const;
  // The same error with `context` and ": " before its message; ok stays ok.
  [[nodiscard]] Status WithContext(std::string_view context) const;

 private:
  [[nodiscard]] static const std::string& NoMessage() {
    static const std::string kNothing;
    return kNothing;
  }
  [[nodiscard]] std::unique_ptr<const std::string> CopyOfMessage() const {
    return message_ != nullptr ? std::make_unique<const std::string>(*message_) : nullptr;
  }

  StatusCode code_ = StatusCode::kOk;
  // Kept behind a pointer, so that ok is two words to make and destroy: every small message makes a few dozen
  // of them.
  std::unique_ptr<const std::string> message_;  // null: empty
};

// The exit code of a process that ends with `status`: 0 done, 1-127 permanent, 128 and above worth retrying.
[[nodiscard]] int ExitCode(const Status& status);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor): return Status
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor): return value
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }
  // REQUIRES: ok().
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace leeway

#define LW_CONCAT_INNER(a, b) a##b
#define LW_CONCAT(a, b) LW_CONCAT_INNER(a, b)

#define LW_RETURN_IF_ERROR(expr)             \
  do {                                       \
    ::leeway::Status lw_status_ = (expr);    \
    if (!lw_status_.ok()) return lw_status_; \
  } while (false)

#define LW_ASSIGN_OR_RETURN(decl, expr) LW_ASSIGN_OR_RETURN_IMPL(LW_CONCAT(lw_result_, __LINE__), decl, expr)
#define LW_ASSIGN_OR_RETURN_IMPL(result, decl, expr) \
  auto result = (expr);                              \
  if (!result.ok()) return result.status();          \
  decl = std::move(result).value()
