#include "leeway/status.h"

namespace leeway {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kAlreadyExists:
      return "already exists";
    case StatusCode::kFailedPrecondition:
      return "failed precondition";
    case StatusCode::kResourceExhausted:
      return "resource exhausted";
    case StatusCode::kProtocol:
      return "protocol error";
    case StatusCode::kInternal:
      return "internal error";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kFenced:
      return "fenced";
    case StatusCode::kCancelled:
      return "cancelled";
  }
  return "unknown error";  // a code of a newer peer
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text(StatusCodeName(code_));
  return text.append(": ").append(message());
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  std::string text(context);
  return {code_, text.append(": ").append(message())};
}

int ExitCode(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kInvalidArgument:
      return 2;
    case StatusCode::kNotFound:
      return 3;
    case StatusCode::kAlreadyExists:
      return 4;
    case StatusCode::kFailedPrecondition:
      return 5;
    case StatusCode::kResourceExhausted:
      return 6;
    case StatusCode::kProtocol:
      return 7;
    case StatusCode::kInternal:
      return 70;  // EX_SOFTWARE
    case StatusCode::kUnavailable:
      return 128;
    case StatusCode::kDeadlineExceeded:
      return 129;
    case StatusCode::kFenced:
      return 131;
    case StatusCode::kCancelled:
      return 143;  // what a shell shows for SIGTERM
  }
  return 70;
}

}  // namespace leeway
