#include "wire/kind.h"

#include <array>
#include <cstddef>

namespace leeway::wire {
namespace {

// "kind 0" ... "kind 255", made at compile time so that an unknown kind has a name with nothing to free.
struct NumberedName {
  std::array<char, 8> text{};
  std::size_t size = 0;
};

constexpr std::array<NumberedName, 256> MakeNumberedNames() {
  std::array<NumberedName, 256> names{};
  for (std::size_t n = 0; n < names.size(); ++n) {
    NumberedName& name = names[n];
    for (const char c : {'k', 'i', 'n', 'd', ' '}) name.text[name.size++] = c;
    if (n >= 100) name.text[name.size++] = static_cast<char>('0' + n / 100);
    if (n >= 10) name.text[name.size++] = static_cast<char>('0' + n / 10 % 10);
    name.text[name.size++] = static_cast<char>('0' + n % 10);
  }
  return names;
}

constexpr std::array<NumberedName, 256> kNumberedNames = MakeNumberedNames();

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kHello:
      return "Hello";
    case Kind::kWelcome:
      return "Welcome";
    case Kind::kGoodbye:
      return "Goodbye";
    case Kind::kPing:
      return "Ping";
    case Kind::kPong:
      return "Pong";
    case Kind::kRoster:
      return "Roster";
    case Kind::kDefineTables:
      return "DefineTables";
    case Kind::kTableMap:
      return "TableMap";
    case Kind::kBarrier:
      return "Barrier";
    case Kind::kBarrierDone:
      return "BarrierDone";
    case Kind::kLeaseBatches:
      return "LeaseBatches";
    case Kind::kBatchLease:
      return "BatchLease";
    case Kind::kLeave:
      return "Leave";
    case Kind::kLeft:
      return "Left";
    case Kind::kReport:
      return "Report";
    case Kind::kStatusRequest:
      return "StatusRequest";
    case Kind::kStatusReply:
      return "StatusReply";
    case Kind::kJobEnd:
      return "JobEnd";
    case Kind::kEpochAck:
      return "EpochAck";
    case Kind::kCut:
      return "Cut";
    case Kind::kCutReply:
      return "CutReply";
    case Kind::kCheckpoint:
      return "Checkpoint";
    case Kind::kCheckpointReply:
      return "CheckpointReply";
    case Kind::kRankState:
      return "RankState";
    case Kind::kWhy:
      return "Why";
    case Kind::kWhyReply:
      return "WhyReply";
    case Kind::kSetSync:
      return "SetSync";
    case Kind::kSetSyncReply:
      return "SetSyncReply";
    case Kind::kChallenge:
      return "Challenge";
    case Kind::kProof:
      return "Proof";
    case Kind::kInit:
      return "Init";
    case Kind::kPush:
      return "Push";
    case Kind::kAbsent:
      return "Absent";
    case Kind::kVerdicts:
      return "Verdicts";
    case Kind::kPull:
      return "Pull";
    case Kind::kAnswers:
      return "Answers";
    case Kind::kAssign:
      return "Assign";
    case Kind::kRead:
      return "Read";
    case Kind::kArrays:
      return "Arrays";
  }
  const NumberedName& name = kNumberedNames[static_cast<std::uint8_t>(kind)];
  return {name.text.data(), name.size};
}

}  // namespace leeway::wire
