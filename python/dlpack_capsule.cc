#include "dlpack_capsule.h"

#include <utility>

namespace py = pybind11;

namespace leeway {
namespace {

// The structures of DLPack (dmlc/dlpack, dlpack.h) that a tensor of floats on the CPU needs. They are an ABI
// and do not change.
struct DlDevice {
  std::int32_t type;
  std::int32_t id;
};

struct DlDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t ndim;
  DlDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr DlDevice kCpu{.type = 1, .id = 0};
constexpr DlDataType kFloat32{.code = 2, .bits = 32, .lanes = 1};
constexpr const char* kFresh = "dltensor";  // from_dlpack() renames the capsule

// The parts of a tensor. The capsule owns them until from_dlpack(), then the tensor.
struct Held {
  DlManagedTensor managed;
  std::shared_ptr<float> memory;
  std::vector<std::int64_t> shape, strides;
};

// Runs on any thread, without Python's lock.
void Delete(DlManagedTensor* managed) { delete static_cast<Held*>(managed->context); }

void DeleteUntaken(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kFresh) == 0) return;
  auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh));
  managed->deleter(managed);
}

}  // namespace

ArenaMemory::ArenaMemory(std::shared_ptr<float> memory, std::vector<std::int64_t> shape,
                         std::vector<std::int64_t> strides)
    : memory_(std::move(memory)), shape_(std::move(shape)), strides_(std::move(strides)) {}

py::object ArenaMemory::Capsule() const {
  auto held = std::make_unique<Held>();
  held->memory = memory_;
  held->shape = shape_;
  held->strides = strides_;
  held->managed = {.tensor = {.data = memory_.get(),
                              .device = kCpu,
                              .ndim = static_cast<std::int32_t>(shape_.size()),
                              .dtype = kFloat32,
                              .shape = held->shape.data(),
                              .strides = held->strides.data(),
                              .byte_offset = 0},
                   .context = held.get(),
                   .deleter = Delete};
  PyObject* const capsule = PyCapsule_New(&held->managed, kFresh, DeleteUntaken);
  if (capsule == nullptr) throw py::error_already_set();
  (void)held.release();
  return py::reinterpret_steal<py::object>(capsule);
}

}  // namespace leeway
