#include "role/listen_address.h"

#include "base/errors.h"
#include "base/host_text.h"
#include "terminal/quantity.h"
#include "transport/stream/address.h"

namespace leeway::app {
namespace {

Result<std::string> HostOf(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const Result<std::uint64_t> number = ParseNumber(port);
  if (colon == 0 || !number.ok() || *number > 65'535) {
    return InvalidArgument(
        "--listen: got \"{}\", wanted host:port with a port from 0 (any free one) to 65535, or local:NAME",
        address);
  }
  return address.substr(0, colon);
}

}  // namespace

Status CheckListen(const std::string& address, bool bind_any) {
  if (IsLocal(address)) return ParseLocal(address).status().WithContext("--listen");
  LW_ASSIGN_OR_RETURN(const std::string host, HostOf(address));
  if (IsLoopbackHost(host) || bind_any) return Status::Ok();
  return InvalidArgument(
      "--listen: \"{}\" can be reached from other machines, and connections are not encrypted; add "
      "--bind-any if that is what you want",
      address);
}

Status CheckListenAndTell(const std::string& address, bool bind_any) {
  LW_RETURN_IF_ERROR(CheckListen(address, bind_any));
  if (IsLocal(address)) return Status::Ok();
  LW_ASSIGN_OR_RETURN(const std::string host, HostOf(address));
  if (host != "0.0.0.0" && host != "::" && host != "[::]") return Status::Ok();
  return InvalidArgument("--listen: got \"{}\", wanted the address by which workers reach this machine",
                         address);
}

}  // namespace leeway::app
