// ArenaMemory: memory of the worker's arena, as a tensor library takes it: a DLPack capsule.
//
// DLPack because its deleter is plain C: torch frees tensors on threads of its own and while the interpreter
// goes down, where Python's lock is not to be had (a tensor over a Python buffer can hang the process at its
// end). Each tensor is a storage of its own, so that torch.save writes no more than the tensor.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace leeway {

// Floats of one shape. Whoever has a tensor of it or this object keeps the memory, also after the worker's
// end: torch may take a tensor's storage away (share_memory()) while the worker still uses what lay there.
class ArenaMemory {
 public:
  // As many elements as a contiguous tensor of `shape` has; `strides`, in elements, are those of such a
  // tensor (where an extent is 1 any stride is). REQUIRES: memory has room for them.
  ArenaMemory(std::shared_ptr<float> memory, std::vector<std::int64_t> shape,
              std::vector<std::int64_t> strides);

  [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  // Whoever has it keeps the memory. Its deleter takes no lock of Python's: any thread may let go of it.
  [[nodiscard]] std::shared_ptr<const void> pin() const { return memory_; }
  // A capsule named "dltensor", for one from_dlpack(). May be called again, for another tensor over the same
  // memory.
  [[nodiscard]] pybind11::object Capsule() const;

 private:
  std::shared_ptr<float> memory_;  // shared: with every tensor that was made of it
  std::vector<std::int64_t> shape_, strides_;
};

}  // namespace leeway
