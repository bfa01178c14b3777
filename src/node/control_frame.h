// A control message in and out of the body of its frame.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "leeway/status.h"
#include "wire/control.pb.h"
#include "wire/kind.h"

namespace leeway {

[[nodiscard]] inline std::vector<std::byte> ControlBody(const google::protobuf::MessageLite& message) {
  std::vector<std::byte> body(message.ByteSizeLong());
  google::protobuf::io::ArrayOutputStream array(body.data(), static_cast<int>(body.size()));
  google::protobuf::io::CodedOutputStream out(&array);
  // Without it the order of a map's entries changes from run to run, and a simulated run could not be
  // replayed.
  out.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&out);
  return body;
}

// An error names the kind and the size of what could not be read.
[[nodiscard]] inline Status ParseControl(wire::Kind kind, std::span<const std::byte> body,
                                         google::protobuf::MessageLite& out) {
  if (out.ParseFromArray(body.data(), static_cast<int>(body.size()))) return Status::Ok();
  return Protocol("malformed {} frame: its body of {} bytes cannot be decoded", wire::KindName(kind),
                  body.size());
}

// The StatusCode of a wire code; an unknown one (of a later version) is kInternal.
[[nodiscard]] inline StatusCode CodeFromWire(std::uint32_t code) {
  return code <= static_cast<std::uint32_t>(StatusCode::kCancelled) ? static_cast<StatusCode>(code)
                                                                    : StatusCode::kInternal;
}

// An error fit for a control frame: at most 2 KiB, so that it fits the limits before a hello, in one line of
// UTF-8.
[[nodiscard]] inline std::string ClippedMessage(const std::string& message) {
  constexpr std::size_t kBytesMax = 2048;
  return Printable(message, kBytesMax);
}

[[nodiscard]] inline wire::pb::Goodbye GoodbyeOf(const Status& why) {
  wire::pb::Goodbye goodbye;
  goodbye.set_code(static_cast<std::uint32_t>(why.code()));
  goodbye.set_message(ClippedMessage(why.message()));
  return goodbye;
}

// The error that a peer sent, fit for people who read it here.
[[nodiscard]] inline Status StatusFromWire(std::uint32_t code, const std::string& message) {
  return {CodeFromWire(code), ClippedMessage(message)};
}

}  // namespace leeway
