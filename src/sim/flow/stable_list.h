// StableList: a list that grows at its end and never moves its entries. Entries lie together in pieces of
// about a thousand, found in two steps; std::deque has a piece for each entry larger than 256 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace leeway::sim {

template <typename Entry>
class StableList {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Entry& operator[](std::size_t i) { return (*pieces_[i / kPiece])[i % kPiece]; }
  [[nodiscard]] const Entry& operator[](std::size_t i) const { return (*pieces_[i / kPiece])[i % kPiece]; }
  Entry& Add() {
    if (size_ == pieces_.size() * kPiece) pieces_.push_back(std::make_unique<Piece>());
    return (*this)[size_++];
  }

 private:
  static constexpr std::size_t kPiece = 1024;
  using Piece = std::array<Entry, kPiece>;
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace leeway::sim
