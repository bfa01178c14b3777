// PairLanding: the node's side of a table's ParameterPair. Which blocks of the next version are here, where
// they landed, and when the whole may be shown to the user.
//
// An answer lands straight in the back buffer when that is free, else in a pooled buffer of its own that is
// copied when the table is whole. A block whose landing has begun and not ended counts as not arrived, so a
// cut in the middle of a frame is never visible. Thread rule: the node's; the user's thread may Take at any
// time.
//
// With LandAside every answer lands in a buffer of its own, so that the table may be shown while some of it
// is still on its way (partial pull): nothing is ever written into what the user reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block/buffer_pool.h"
#include "leeway/ids.h"
#include "node/worker/parameter_pair.h"

namespace leeway {

class PairLanding {
 public:
  // Both outlive it.
  PairLanding(ParameterPair& pair, BufferPool& pool);

  // From now on. Needed by PublishPartly.
  void LandAside() { aside_ = true; }

  // Adds the next block of the table, in the order of offsets.
  void AddBlock(std::size_t offset, std::size_t elements);

  // The newest version of a block that is here whole: what a pull names as cached.
  [[nodiscard]] Version Held(std::size_t block) const;
  // The version in the buffer that the user reads.
  [[nodiscard]] Version InUse(std::size_t block) const;

  // The v_train that these were told with; min() when that is not known.
  [[nodiscard]] Iteration HeldVTrain(std::size_t block) const;
  [[nodiscard]] Iteration InUseVTrain(std::size_t block) const;

  // The block's owner may count its versions anew: the versions held get numbers that no version has.
  void Forget(std::size_t block);

  struct Place {
    std::span<float> values;
    BufferRef staged;  // null: `values` lies in the back buffer
  };
  // An answer with values for `block` begins to come: where they go.
  [[nodiscard]] Place Begin(std::size_t block);
  // All of it is here; `staged` as Begin gave it.
  void Arrived(std::size_t block, Iteration progress, Version version, BufferRef staged);
  // All of it is here, and it says that there is no gradient (relay). If other blocks of the table have one,
  // this one is zeros.
  void ArrivedWithout(std::size_t block, Iteration progress, Version version);
  // An answer without values: the version held serves. False when that is not `version`.
  [[nodiscard]] bool Unchanged(std::size_t block, Iteration progress, Version version);
  // The newest version held is what its owner has in iteration `v_train`. Called after Arrived or Unchanged.
  void Stamp(std::size_t block, Iteration v_train);
  // The version held serves after `progress` as well, by the worker's own decision.
  void Serve(std::size_t block, Iteration progress) { SetArrived(blocks_[block], progress); }
  // Progress answered for the block; min() before the first.
  [[nodiscard]] Iteration arrived(std::size_t block) const { return blocks_[block].arrived; }
  // A version is here that was never shown.
  [[nodiscard]] bool HasNews(std::size_t block) const { return blocks_[block].newest != Where::kPublished; }

  // Shows the table to the user if every block has news since the last time and serves iteration needed + 1.
  // True if ready() rose.
  bool PublishIfWhole(Iteration needed);
  // Shows the blocks that are here in iteration needed + 1; blocks without news stay as they are. REQUIRES:
  // LandAside; every block has arrived once.
  void PublishPartly(Iteration needed);
  [[nodiscard]] Iteration published() const { return published_; }

 private:
  enum class Where : std::uint8_t { kPublished, kBack, kStaged };
  // All but the staged version in one line of memory: a push and an answer look at nothing else.
  struct alignas(64) Slot {
    std::size_t offset = 0, elements = 0;
    Iteration arrived;
    Version in_buffer[2];              // the version that each buffer holds; 0: none, or half of one
    Iteration v_train_in[2];           // what each was told with
    Where newest = Where::kPublished;  // where the newest whole version is
    bool none_in[2] = {false, false};  // whether each buffer holds zeros for no gradient
    bool staged_none = false;
    BufferRef staged;  // null unless that is kStaged
    Version staged_version;
    Iteration staged_v_train;
  };

  [[nodiscard]] std::uint8_t BackIndex() const { return static_cast<std::uint8_t>(1 - pair_.front_index()); }
  void SetArrived(Slot& slot, Iteration progress);
  void Fill(Slot& slot, std::uint8_t back);
  void Show(Iteration progress);

  ParameterPair& pair_;
  BufferPool& pool_;
  std::vector<Slot> blocks_;
  Iteration published_;
  std::uint32_t lagging_ = 0;      // blocks with nothing newer than published_
  std::uint8_t newest_index_ = 0;  // the buffer published last: the back, and the front once the user took it
  bool aside_ = false;
};

}  // namespace leeway
