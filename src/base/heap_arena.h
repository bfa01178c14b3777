// HeapArena: an Arena on the heap, for worlds without shared memory.
#pragma once

#include "leeway/arena.h"

namespace leeway {

class HeapArena final : public Arena {
 public:
  [[nodiscard]] std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) override;
};

}  // namespace leeway
