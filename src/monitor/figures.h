// Figures: named numbers (counters and gauges) that nodes report with every beat, and their sums over a job.
//
// Plain values in the order of their names. Names come from peers and users, so their number and length are
// bounded.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace leeway {

class Figures {
 public:
  static constexpr std::size_t kNamesMax = 512;
  static constexpr std::size_t kNameBytesMax = 64;

  // Returns false and changes nothing for a name that is empty, too long or not printable, or beyond
  // kNamesMax names.
  bool Set(std::string_view name, double value);
  bool Add(std::string_view name, double value);
  // Adds every figure of `other` under `prefix` + its name.
  void AddAll(const Figures& other, std::string_view prefix = {});
  // 0 for a name that was never set.
  [[nodiscard]] double Get(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, double, std::less<>>& all() const { return values_; }

 private:
  double* Slot(std::string_view name);

  std::map<std::string, double, std::less<>> values_;
};

// An object of name: number; whole numbers without a fraction.
void to_json(nlohmann::json& out,
             const Figures& figures);  // NOLINT(readability-identifier-naming): found by the library

}  // namespace leeway
