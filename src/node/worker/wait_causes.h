// WaitCauses: how long a worker's user was held up, by the server and the table that the wait ended with. A
// bounded map: further causes go under "others". Thread rule: the node's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "leeway/env.h"

namespace leeway {

class WaitCauses {
 public:
  static constexpr std::size_t kCausesMax = 32;     // of each kind
  static constexpr std::size_t kNameBytesMax = 40;  // of a table's name; figures have short names

  // The beginning of a table's name, for a figure. It ends between two characters of UTF-8: a report with
  // half a character could not be read.
  [[nodiscard]] static std::string_view ShortName(std::string_view name);
  // The waits for this cause so far, in nanoseconds: an entry of `causes`, which is keyed "server.0" or
  // "table.w" and keeps its entries where they are.
  [[nodiscard]] static std::uint64_t& Of(std::map<std::string, std::uint64_t>& causes, std::string_view kind,
                                         std::string_view name);
  // Adds to it.
  static void Add(std::map<std::string, std::uint64_t>& causes, std::string_view kind, std::string_view name,
                  Duration waited);
};

}  // namespace leeway
