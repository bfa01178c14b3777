// KeptVersions: the values that workers compute on, for as long as a push of theirs may name them (apply
// option dc).
//
// A version is in use by the workers that were last answered with it, or with it before that: while an answer
// is under way a worker may still compute on what it had. At most `limit` are kept, the newest; a version is
// a whole block of memory. Not part of a block's state: what is not kept is not compensated.
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
  // Forgets what is beyond the limit; 0 forgets all.
  void SetLimit(std::size_t limit);
  // The worker is sent this version.
  void Sent(WorkerId worker, Version version, const ConstBufferRef& values);
  // The worker has computed on `base`: it will not come back to anything older.
  void Used(WorkerId worker, Version base);
  // What is kept says nothing of the values of now any more: another rank has set them.
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
