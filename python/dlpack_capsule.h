// ArenaMemory: memory of the worker's arena, as a DLPack capsule for a tensor library.
//
// DLPack, because its deleter is plain C. torch frees tensors on its own threads and while the interpreter
// ends, where nobody can take Python's lock: a tensor over a Python buffer can hang the process at its end.
// Each tensor has its own storage, so that torch.save writes no more than the tensor.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace leeway {

// Floats of one shape. This object and every tensor of it keep the memory, also after the worker's end. torch
// may give a tensor other storage (share_memory()) while the worker still uses the old memory.
class ArenaMemory {
 public:
  // `strides`, in elements, are those of a contiguous tensor of `shape` (any stride where an extent is 1).
  // REQUIRES: memory has room for such a tensor.
  ArenaMemory(std::shared_ptr<float> memory, std::vector<std::int64_t> shape,
              std::vector<std::int64_t> strides);

  [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }
  // Keeps the memory. Its deleter takes no lock of Python's, so that any thread may drop it.
  [[nodiscard]] std::shared_ptr<const void> pin() const { return memory_; }
  // Makes a capsule named "dltensor", for one from_dlpack(). Each call gives another tensor over the memory.
  [[nodiscard]] pybind11::object Capsule() const;

 private:
  std::shared_ptr<float> memory_;  // shared: with every tensor of it
  std::vector<std::int64_t> shape_, strides_;
};

}  // namespace leeway
