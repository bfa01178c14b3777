// TrainRow: one way to train in a comparison of `leeway bench train`, as a user writes it:
//
//   alone                            one machine without a network and without servers
//   traditional                      all gradients leave after the backward pass, then all values are waited
//   for wait-free                        a gradient leaves when it is ready, a layer waits for its own values
//   alone wait-free sync=ssp:5 exchange=when_stale:5 machines=2
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::bench {

enum class TrainPass : std::uint8_t { kAlone, kTraditional, kWaitFree };

struct TrainRow {
  std::string text;  // as it was written; reports show it
  TrainPass pass = TrainPass::kWaitFree;
  JobOptions job;         // its workers are the row's machines
  std::uint32_t cut = 1;  // parts of each tensor, each a table of its own
};

// Rows parted by ";". `usual` is the job of a row that says nothing else, on all machines of the cluster.
// "alone" comes first, whether or not it is written. An error names the word.
[[nodiscard]] Result<std::vector<TrainRow>> ParseTrainRows(const std::string& text, const JobOptions& usual);

}  // namespace leeway::bench
