#include "monitor/figures.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/printable.h"

namespace leeway {

double* Figures::Slot(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second;
  if (name.empty() || values_.size() >= kNamesMax || Printable(name, kNameBytesMax) != name) return nullptr;
  return &values_.emplace(name, 0.0).first->second;
}

bool Figures::Set(std::string_view name, double value) {
  double* slot = Slot(name);
  if (slot == nullptr) return false;
  *slot = value;
  return true;
}

bool Figures::Add(std::string_view name, double value) {
  double* slot = Slot(name);
  if (slot == nullptr) return false;
  *slot += value;
  return true;
}

void Figures::AddAll(const Figures& other, std::string_view prefix) {
  for (const auto& [name, value] : other.values_) Add(std::string(prefix) + name, value);
}

double Figures::Get(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0.0 : found->second;
}

void to_json(nlohmann::json& out, const Figures& figures) {
  out = nlohmann::json::object();
  for (const auto& [name, value] : figures.all()) {
    // Below 2^53 a double holds every whole number: counters print as people expect them.
    if (std::abs(value) < 0x1.0p53 && value == std::floor(value)) {
      out[name] = static_cast<std::int64_t>(value);
    } else {
      out[name] = value;
    }
  }
}

}  // namespace leeway
