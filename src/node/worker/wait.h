// Wait: what a worker waits for now, as far as it knows by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

struct WorkerBlock;

// Why a worker waits, in several lines; and whether it waits for members of the job, as far as its peers say.
using Explained = std::function<void(const std::string& why, bool for_members)>;

struct Wait {
  enum class Cause : std::uint8_t {
    kNothing,
    kScheduler,   // to be welcomed by it
    kGathering,   // the job to begin
    kConnection,  // to a server, to join
    kFile,        // its state in a checkpoint
    kTables,      // to be placed
    kBarrier,
    kBatches,
    kLeft,     // the scheduler's word that it left
    kValues,   // of a block
    kVerdict,  // on a push, or on initial values
    kMembers,  // the others to leave
  };

  Cause cause = Cause::kNothing;
  std::string text;                    // in words: for what, since when, how old the peer's last message is
  const WorkerBlock* block = nullptr;  // kValues, kVerdict: the first of those
  std::string name = {};               // kBarrier: its name; kConnection: the server's
  std::vector<std::uint32_t> ranks = {};  // kMembers: those that have not left
  TimePoint since = {};                   // it waits; the clock's beginning: not known
  bool is_read = false;                   // kValues: of an array that the server has now
  // kVerdict: the iteration of a push that the server has sent back as too early. Nothing: the server has the
  // push, and owes the verdict.
  std::optional<Iteration> held = {};
};

}  // namespace leeway
