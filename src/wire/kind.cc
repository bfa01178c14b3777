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
#define LW_NAME(kind) \
  case Kind::k##kind: \
    return #kind
  switch (kind) {
    LW_NAME(Hello);
    LW_NAME(Welcome);
    LW_NAME(Goodbye);
    LW_NAME(Ping);
    LW_NAME(Pong);
    LW_NAME(Roster);
    LW_NAME(DefineTables);
    LW_NAME(TableMap);
    LW_NAME(Barrier);
    LW_NAME(BarrierDone);
    LW_NAME(LeaseBatches);
    LW_NAME(BatchLease);
    LW_NAME(Leave);
    LW_NAME(Left);
    LW_NAME(Report);
    LW_NAME(StatusRequest);
    LW_NAME(StatusReply);
    LW_NAME(JobEnd);
    LW_NAME(EpochAck);
    LW_NAME(Cut);
    LW_NAME(CutReply);
    LW_NAME(Checkpoint);
    LW_NAME(CheckpointReply);
    LW_NAME(RankState);
    LW_NAME(Why);
    LW_NAME(WhyReply);
    LW_NAME(SetSync);
    LW_NAME(SetSyncReply);
    LW_NAME(Challenge);
    LW_NAME(Proof);
    LW_NAME(Init);
    LW_NAME(Push);
    LW_NAME(Absent);
    LW_NAME(Verdicts);
    LW_NAME(Pull);
    LW_NAME(Answers);
    LW_NAME(Assign);
    LW_NAME(Read);
    LW_NAME(Arrays);
    LW_NAME(Resume);
    LW_NAME(Resumed);
    LW_NAME(Notify);
    LW_NAME(ReSync);
    LW_NAME(Plan);
    LW_NAME(HandOver);
    LW_NAME(Held);
    LW_NAME(Commit);
    LW_NAME(Probe);
  }
#undef LW_NAME
  const NumberedName& name = kNumberedNames[static_cast<std::uint8_t>(kind)];
  return {name.text.data(), name.size};
}

}  // namespace leeway::wire
