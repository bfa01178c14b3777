#include "process/address_source.h"

#include <fstream>
#include <string>

#include "base/errors.h"
#include "transport/stream/address.h"

namespace leeway {
namespace {

constexpr std::string_view kFilePrefix = "file:";

Result<std::string> ReadAddress(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Unavailable(
        "the address file {} does not exist or cannot be read (a scheduler writes it once it listens)", path);
  }
  std::string address;
  std::getline(file, address);
  while (!address.empty() && (address.back() == '\r' || address.back() == ' ')) address.pop_back();
  if (address.empty()) return Unavailable("the address file {} is empty, wanted \"host:port\"", path);
  return address;
}

}  // namespace

AddressSource MakeAddressSource(const std::string& scheduler) {
  if (scheduler.starts_with(kFilePrefix)) {
    return [path = scheduler.substr(kFilePrefix.size())] { return ReadAddress(path); };
  }
  return [scheduler]() -> Result<std::string> { return scheduler; };
}

Status CheckAddress(const std::string& scheduler) {
  if (scheduler.starts_with(kFilePrefix)) {
    if (scheduler.size() > kFilePrefix.size()) return Status::Ok();
    return InvalidArgument("address \"{}\": no path, wanted \"file:PATH\"", scheduler);
  }
  return IsLocal(scheduler) ? ParseLocal(scheduler).status() : Endpoint::Parse(scheduler).status();
}

std::string ListenOnThisHost(const std::string& transport) {
  return transport == "tcp" ? "127.0.0.1:0" : "local:";
}

}  // namespace leeway
