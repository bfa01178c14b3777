#include "block/buffer_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/heap_arena.h"

namespace leeway {

Buffer::Buffer(std::size_t elements)
    : Buffer(elements, HeapArena().Allocate(elements * sizeof(float), Arena::Use::kKept)) {
  LW_CHECK(data_ != nullptr, "out of memory: wanted {} floats", elements);
}

// Deletes itself when the pool has closed it and nothing is out any more: a count of its own, since a
// shared_ptr's, which other threads might change, costs every buffer half a dozen locked instructions.
class BufferPool::Shelf {
 public:
  Shelf(std::uint64_t spare_bytes_max, Arena* arena)
      : spare_bytes_max_(spare_bytes_max), arena_(arena != nullptr ? arena : &heap_) {}

  BufferRef Take(std::size_t elements, Arena::Use use) {
    std::vector<std::unique_ptr<Buffer>>& spares = ClassOf(elements, use).spares;
    std::unique_ptr<Buffer> buffer;
    if (!spares.empty()) {
      buffer = std::move(spares.back());  // the most recent one: it may still be in the cache
      spares.pop_back();
      spare_bytes_ -= buffer->bytes().size();
    } else {
      std::shared_ptr<std::byte> memory = arena_->Allocate(elements * sizeof(float), use);
      if (memory == nullptr) return nullptr;
      buffer = std::make_unique<Buffer>(elements, std::move(memory));
    }
    Buffer* const taken = buffer.release();
    return {taken, Return{this, use}, Control<Buffer>{this}};
  }

  void Close() {
    closed_ = true;
    classes_.clear();
    spare_bytes_ = 0;
    DeleteIfDone();
  }
  [[nodiscard]] std::uint64_t spare_bytes() const { return spare_bytes_; }
  [[nodiscard]] bool HasRoomFor(std::uint64_t bytes) const { return arena_->HasRoomFor(bytes); }

 private:
  struct Class {
    std::size_t elements;
    Arena::Use use;
    std::vector<std::unique_ptr<Buffer>> spares;
  };
  // The deleter of a reference; its Control keeps the shelf.
  struct Return {
    Shelf* shelf;
    Arena::Use use;
    void operator()(Buffer* buffer) const { shelf->PutBack(std::unique_ptr<Buffer>(buffer), use); }
  };
  // Gives references the memory of their counts, over and over the same. That memory comes back when all else
  // of a reference is gone, so it is what keeps the shelf.
  template <typename T>
  struct Control {
    using value_type = T;
    Shelf* shelf;
    explicit Control(Shelf* of) : shelf(of) {}
    template <typename U>
    Control(const Control<U>& other) : shelf(other.shelf) {}  // NOLINT(google-explicit-constructor)
    T* allocate(std::size_t n) { return static_cast<T*>(shelf->TakeControl(n * sizeof(T))); }
    void deallocate(T* block, std::size_t n) { shelf->PutBackControl(block, n * sizeof(T)); }
    template <typename U>
    bool operator==(const Control<U>& other) const {
      return shelf == other.shelf;
    }
  };

  // A shard has few sizes of blocks, and asks for the same one over and over.
  Class& ClassOf(std::size_t elements, Arena::Use use) {
    const auto is = [&](const Class& c) { return c.elements == elements && c.use == use; };
    if (last_ < classes_.size() && is(classes_[last_])) return classes_[last_];
    const auto before = [&](const Class& c, std::size_t) {
      return c.elements != elements ? c.elements < elements : c.use < use;
    };
    auto found = std::lower_bound(classes_.begin(), classes_.end(), elements, before);
    if (found == classes_.end() || !is(*found)) found = classes_.insert(found, Class{elements, use, {}});
    last_ = static_cast<std::size_t>(found - classes_.begin());
    return *found;
  }

  void PutBack(std::unique_ptr<Buffer> buffer, Arena::Use use) {
    const std::uint64_t bytes = buffer->bytes().size();
    if (closed_ || spare_bytes_ + bytes > spare_bytes_max_) return;
    spare_bytes_ += bytes;
    ClassOf(buffer->floats().size(), use).spares.push_back(std::move(buffer));
  }

  void* TakeControl(std::size_t bytes) {
    LW_CHECK(control_bytes_ == 0 || control_bytes_ == bytes, "{} and {} bytes", control_bytes_, bytes);
    control_bytes_ = bytes;
    ++out_;
    if (spare_control_.empty()) return ::operator new(bytes);
    void* const block = spare_control_.back();
    spare_control_.pop_back();
    return block;
  }
  void PutBackControl(void* block, std::size_t) {
    spare_control_.push_back(block);
    --out_;
    DeleteIfDone();
  }

  ~Shelf() {
    for (void* block : spare_control_) ::operator delete(block);
  }
  void DeleteIfDone() {
    if (closed_ && out_ == 0) delete this;
  }

  const std::uint64_t spare_bytes_max_;
  HeapArena heap_;
  Arena* const arena_;
  std::uint64_t spare_bytes_ = 0;
  bool closed_ = false;         // the pool is gone: what comes back is freed
  std::vector<Class> classes_;  // by elements and use
  std::size_t last_ = 0;        // of classes_, the one asked for last
  std::size_t control_bytes_ = 0;
  std::size_t out_ = 0;               // references that are not gone
  std::vector<void*> spare_control_;  // as many as there were references at one time
};

BufferPool::BufferPool(std::uint64_t spare_bytes_max) : shelf_(new Shelf(spare_bytes_max, nullptr)) {}

BufferPool::BufferPool(std::uint64_t spare_bytes_max, Arena& arena)
    : shelf_(new Shelf(spare_bytes_max, &arena)) {}

BufferPool::~BufferPool() { shelf_->Close(); }

BufferRef BufferPool::Take(std::size_t elements, Arena::Use use) { return shelf_->Take(elements, use); }

bool BufferPool::HasRoomFor(std::uint64_t bytes) const { return shelf_->HasRoomFor(bytes); }

std::uint64_t BufferPool::spare_bytes() const { return shelf_->spare_bytes(); }

}  // namespace leeway
