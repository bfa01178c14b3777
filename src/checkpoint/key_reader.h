// KeyReader: reads the keys of one JSON object, each once. A key that is missing, of the wrong kind, out of
// range or left over gives an error that names its path ("tables[3].blocks[0].file").
//
// All readers of one document share a Status that keeps the first error. After an error every answer is
// empty.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "leeway/status.h"

namespace leeway {

class KeyReader {
 public:
  using Json = nlohmann::json;

  // Borrows `object` and `first_error`. REQUIRES: both outlive the reader.
  KeyReader(const Json& object, std::string path, Status& first_error);

  [[nodiscard]] std::uint64_t Number(std::string_view key, std::uint64_t low, std::uint64_t high);
  [[nodiscard]] std::int64_t Signed(std::string_view key, std::int64_t low);
  [[nodiscard]] double Real(std::string_view key, double low, double high);
  [[nodiscard]] bool Bool(std::string_view key);
  [[nodiscard]] std::string Text(std::string_view key);
  // 16 hexadecimal digits.
  [[nodiscard]] std::uint64_t Checksum(std::string_view key);
  // The index of the text in `known`.
  [[nodiscard]] std::size_t OneOf(std::string_view key, std::initializer_list<std::string_view> known);
  // Returns an empty value if the key is missing, or is no list or no object.
  [[nodiscard]] const Json& List(std::string_view key);
  [[nodiscard]] KeyReader Object(std::string_view key);
  // Call it last: a key that was not asked for is an error.
  void Finish();

  // Reports a problem with the value of a key.
  void Refuse(std::string_view key, const std::string& problem);
  [[nodiscard]] std::string PathOf(std::string_view key) const;
  [[nodiscard]] bool ok() const { return error_.ok(); }

 private:
  const Json& Find(std::string_view key);

  const Json& object_;
  std::string path_;
  Status& error_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace leeway
