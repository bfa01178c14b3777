// The memory of a model as a few whole numbers behind a letter of the model's own.
//
// Memory comes from checkpoints and from earlier owners, and may belong to another model after a switch.
// Memory without the letter and the length counts as empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "leeway/sync_model.h"

namespace leeway {

template <std::size_t kWords>
[[nodiscard]] std::optional<std::array<std::int64_t, kWords>> ReadWords(const Memory& memory, char letter) {
  std::array<std::int64_t, kWords> words{};
  if (memory.size() != 1 + sizeof(words) || memory[0] != letter) return std::nullopt;
  std::memcpy(words.data(), memory.data() + 1, sizeof(words));
  return words;
}

template <std::size_t kWords>
void WriteWords(Memory& memory, char letter, const std::array<std::int64_t, kWords>& words) {
  memory.resize(1 + sizeof(words));
  memory[0] = letter;
  std::memcpy(memory.data() + 1, words.data(), sizeof(words));
}

}  // namespace leeway
