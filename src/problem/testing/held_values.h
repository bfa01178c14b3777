// HeldValues: memory for the values of every table of a problem, at an alignment that the test chooses.
#pragma once

#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

class HeldValues {
 public:
  // Every value is NaN at first. `offset` floats come before each table, to lie at another alignment.
  explicit HeldValues(const Problem& problem, std::size_t offset = 0) {
    for (const Table& table : problem.tables()) {
      memory_.emplace_back(offset + table.elements(), std::numeric_limits<float>::quiet_NaN());
      tables_.push_back(std::span(memory_.back()).subspan(offset));
    }
    views_.assign(tables_.begin(), tables_.end());
  }
  HeldValues(const HeldValues&) = delete;
  HeldValues& operator=(const HeldValues&) = delete;

  [[nodiscard]] MutableValues tables() const { return tables_; }
  [[nodiscard]] Values views() const { return views_; }
  [[nodiscard]] std::span<float> operator[](std::size_t table) const { return tables_[table]; }

  void CopyFrom(const HeldValues& other) const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      std::memcpy(tables_[t].data(), other.tables_[t].data(), tables_[t].size_bytes());
    }
  }
  void Add(double scale, const HeldValues& other) const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (std::size_t i = 0; i < tables_[t].size(); ++i) {
        tables_[t][i] = static_cast<float>(tables_[t][i] + scale * other[t][i]);
      }
    }
  }
  [[nodiscard]] double Dot(const HeldValues& other) const {
    double sum = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (std::size_t i = 0; i < tables_[t].size(); ++i)
        sum += static_cast<double>(tables_[t][i]) * other[t][i];
    }
    return sum;
  }
  [[nodiscard]] bool SameBits(const HeldValues& other) const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (std::memcmp(tables_[t].data(), other.tables_[t].data(), tables_[t].size_bytes()) != 0) return false;
    }
    return true;
  }

 private:
  std::vector<std::vector<float>> memory_;
  std::vector<std::span<float>> tables_;
  std::vector<std::span<const float>> views_;
};

}  // namespace leeway::problem
