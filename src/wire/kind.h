// Kind: every frame of the protocol. docs/protocol.md has the sender and the receiver of each.
#pragma once

#include <cstdint>
#include <string_view>

namespace leeway::wire {

// The range of protocol versions this build speaks; a hello carries it, a welcome names the one chosen.
inline constexpr std::uint32_t kVersionMin = 5;
inline constexpr std::uint32_t kVersionMax = 5;

enum class Kind : std::uint8_t {
  // Control: the body is the protobuf message of the same name in control.proto.
  kHello = 1,
  kWelcome = 2,
  kGoodbye = 3,  // the sender closes, and says why
  kPing = 4,     // no body
  kPong = 5,     // no body
  kRoster = 6,   // scheduler -> all: epoch, members, shards
  kDefineTables = 7,
  kTableMap = 8,
  kBarrier = 9,
  kBarrierDone = 10,
  kLeaseBatches = 11,
  kBatchLease = 12,
  kLeave = 13,
  kLeft = 14,
  kReport = 15,
  kStatusRequest = 16,
  kStatusReply = 17,
  kJobEnd = 18,
  kEpochAck = 19,         // shard -> scheduler: this epoch (roster or table map) is in force here
  kCut = 20,              // scheduler -> shard, worker: write a part of a checkpoint
  kCutReply = 21,         // shard -> scheduler: what became of it
  kCheckpoint = 22,       // monitor -> scheduler: write a checkpoint now
  kCheckpointReply = 23,  // back: what became of it
  kRankState = 24,        // worker -> scheduler: what became of its part of a checkpoint
  kWhy = 25,              // worker -> shard, scheduler: what do I wait for? scheduler -> worker: what do you?
  kWhyReply = 26,         // and back
  kSetSync = 27,          // monitor, worker -> scheduler: another synchronization model for some tables
  kSetSyncReply = 28,     // and back
  kChallenge = 29,        // listening side -> connecting side: prove that you know the job's secret, as I do
  kProof = 30,            // and back
  // Data: fixed layouts in messages.h.
  kInit = 32,
  kPush = 33,
  kAbsent = 34,  // the CLOCK frame: blocks that were not pushed
  kVerdicts = 35,
  kPull = 36,
  kAnswers = 37,
  kAssign = 38,   // worker -> shard: set these arrays of blocks
  kRead = 39,     // worker -> shard: send the values of blocks, or their optimizers' state
  kArrays = 40,   // and back
  kResume = 41,   // worker -> shard: I go on here under this term; what do you have of mine?
  kResumed = 42,  // and back
  // Reserved: these numbers have their names, no node sends such a frame, and each refuses it by name.
  kNotify = 48,    // worker -> scheduler: the gradients of an iteration have left (speculation)
  kReSync = 49,    // and back: begin this iteration again with newer values
  kPlan = 50,      // scheduler -> shard: a block is to move
  kHandOver = 51,  // shard -> shard: the block
  kHeld = 52,      // shard -> scheduler: the target has the block whole
  kCommit = 53,    // scheduler -> shard: the block is the target's
  kProbe = 54,     // scheduler -> worker: measure this server
};

// Whether a frame of this kind may leave before others that came earlier: nothing that it says depends on
// them.
[[nodiscard]] constexpr bool MayPassOthers(Kind kind) {
  return kind == Kind::kPing || kind == Kind::kPong || kind == Kind::kWhy || kind == Kind::kWhyReply;
}

// "Push", ...; "kind 77" for an unknown one.
[[nodiscard]] std::string_view KindName(Kind kind);

}  // namespace leeway::wire
