// InlineList: a list that is set as a whole and lies in its owner while it has at most N entries. A longer
// list lies in memory of its own, which is kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace leeway::sim {

template <typename T, std::size_t N>
class InlineList {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const T> all() const {
    return size_ <= N ? std::span<const T>(few_).first(size_) : std::span<const T>(*many_);
  }
  void Assign(std::span<const T> from) {
    Clear();
    if (from.size() <= N) {
      std::copy_n(from.data(), from.size(), few_.data());
    } else {
      if (many_ == nullptr) many_ = std::make_unique<std::vector<T>>();
      many_->assign(from.begin(), from.end());
    }
    size_ = from.size();
  }
  // The entries release their contents at once.
  void Clear() {
    if (size_ > N) {
      many_->clear();
    } else if constexpr (!std::is_trivially_destructible_v<T>) {
      std::fill_n(few_.begin(), size_, T());
    }
    size_ = 0;
  }

 private:
  std::size_t size_ = 0;
  std::array<T, N> few_{};
  std::unique_ptr<std::vector<T>> many_;  // made when it is needed
};

}  // namespace leeway::sim
