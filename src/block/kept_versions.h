// KeptVersions: the values that workers compute on, for as long as a push of theirs may name them (apply
// option dc).
//
// A version is in use by the workers whose last answer, or the one before, had it: while an answer is under
// way a worker may still compute on its old values. At most `limit` versions are kept, the newest: a version
// is a whole block of memory. A block's state has none of them: a gradient without its version is not
// compensated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "block/buffer_pool.h"
#include "block/rank_table.h"
#include "leeway/ids.h"

namespace leeway {

class KeptVersions {
 public:
  // Forgets the oldest versions beyond the limit; 0 forgets all.
  void SetLimit(std::size_t limit);
  // The worker is sent this version.
  void Sent(WorkerId worker, Version version, const ConstBufferRef& values);
  // The worker has computed on `base`: it will not come back to anything older.
  void Used(WorkerId worker, Version base);
  // Another rank has set the values, so the kept ones say nothing of those of now.
  void Clear();
  // The worker has gone.
  void Forget(WorkerId worker);
  // Null if it is not kept.
  [[nodiscard]] ConstBufferRef Find(Version version) const;
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Version version{};
    ConstBufferRef values{};
    std::uint32_t users = 0;
  };
  struct Use {
    Version newest{}, before{};  // 0: none
  };
  void Add(Version version, const ConstBufferRef& values);
  void Release(Version version);

  std::size_t limit_ = 0;
  std::vector<Kept> kept_;  // by version, at most limit_
  RankTable<Use> uses_;
};

}  // namespace leeway
