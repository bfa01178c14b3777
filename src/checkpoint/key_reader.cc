#include "checkpoint/key_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "base/errors.h"
#include "checkpoint/checksum.h"

namespace leeway {
namespace {

// Cuts long or binary values for a message.
std::string Shown(const KeyReader::Json& value) {
  std::string text = value.dump(-1, ' ', true, KeyReader::Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  return text;
}

const KeyReader::Json& Nothing() {
  static const KeyReader::Json nothing;  // immutable, and never destroyed before a reader: readers are locals
  return nothing;
}

}  // namespace

KeyReader::KeyReader(const Json& object, std::string path, Status& first_error)
    : object_(object), path_(std::move(path)), error_(first_error) {
  if (!object_.is_object() && error_.ok()) {
    error_ = InvalidArgument("{}: got {}, wanted an object", path_.empty() ? "the manifest" : path_,
                             Shown(object_));
  }
}

std::string KeyReader::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void KeyReader::Refuse(std::string_view key, const std::string& problem) {
  if (error_.ok()) error_ = InvalidArgument("{}: {}", PathOf(key), problem);
}

const KeyReader::Json& KeyReader::Find(std::string_view key) {
  asked_.emplace(key);
  if (!error_.ok()) return Nothing();
  const auto found = object_.find(std::string(key));
  if (found == object_.end()) {
    Refuse(key, "is missing");
    return Nothing();
  }
  return *found;
}

std::uint64_t KeyReader::Number(std::string_view key, std::uint64_t low, std::uint64_t high) {
  const Json& value = Find(key);
  if (!error_.ok()) return low;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low || value.get<std::uint64_t>() > high) {
    Refuse(key, fmt::format("got {}, wanted a whole number from {} to {}", Shown(value), low, high));
    return low;
  }
  return value.get<std::uint64_t>();
}

std::int64_t KeyReader::Signed(std::string_view key, std::int64_t low) {
  const Json& value = Find(key);
  if (!error_.ok()) return low;
  const bool too_high =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  if (!value.is_number_integer() || too_high || value.get<std::int64_t>() < low) {
    Refuse(key, fmt::format("got {}, wanted a whole number from {} to {}", Shown(value), low, INT64_MAX));
    return low;
  }
  return value.get<std::int64_t>();
}

double KeyReader::Real(std::string_view key, double low, double high) {
  const Json& value = Find(key);
  if (!error_.ok()) return low;
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
    Refuse(key, fmt::format("got {}, wanted a number from {} to {}", Shown(value), low, high));
    return low;
  }
  return value.get<double>();
}

bool KeyReader::Bool(std::string_view key) {
  const Json& value = Find(key);
  if (error_.ok() && !value.is_boolean())
    Refuse(key, fmt::format("got {}, wanted true or false", Shown(value)));
  return error_.ok() && value.get<bool>();
}

std::string KeyReader::Text(std::string_view key) {
  const Json& value = Find(key);
  if (error_.ok() && !value.is_string()) Refuse(key, fmt::format("got {}, wanted a text", Shown(value)));
  return error_.ok() ? value.get<std::string>() : std::string();
}

std::uint64_t KeyReader::Checksum(std::string_view key) {
  const std::string text = Text(key);
  if (!error_.ok()) return 0;
  std::uint64_t checksum = 0;
  std::from_chars(text.data(), text.data() + text.size(), checksum, 16);
  if (ChecksumText(checksum) != text) {
    Refuse(key, fmt::format("got {}, wanted 16 digits of 0-9 and a-f", Shown(text)));
  }
  return checksum;
}

std::size_t KeyReader::OneOf(std::string_view key, std::initializer_list<std::string_view> known) {
  const std::string text = Text(key);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (text == known.begin()[i]) return i;
  }
  Refuse(key, fmt::format("got {}, wanted one of: {}", Shown(text), fmt::join(known, ", ")));
  return 0;
}

const KeyReader::Json& KeyReader::List(std::string_view key) {
  const Json& value = Find(key);
  if (error_.ok() && !value.is_array()) Refuse(key, fmt::format("got {}, wanted a list", Shown(value)));
  return error_.ok() ? value : Nothing();
}

KeyReader KeyReader::Object(std::string_view key) {
  const Json& value = Find(key);
  return {value, PathOf(key), error_};
}

void KeyReader::Finish() {
  if (!error_.ok()) return;
  for (const auto& [key, value] : object_.items()) {
    if (!asked_.contains(key)) return Refuse(Shown(key), "is not known");
  }
}

}  // namespace leeway
