#include "wire/kind.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "wire/control.pb.h"

namespace leeway::wire {
namespace {

TEST(KindTest, KnownKindsHaveTheNamesOfTheirMessages) {
  EXPECT_EQ(KindName(Kind::kPush), "Push");
  EXPECT_EQ(KindName(Kind::kDefineTables),
            pb::DefineTables().GetTypeName().substr(sizeof("leeway.wire.pb.") - 1));
  EXPECT_EQ(KindName(Kind::kEpochAck), pb::EpochAck().GetTypeName().substr(sizeof("leeway.wire.pb.") - 1));
  EXPECT_EQ(KindName(Kind::kCheckpointReply),
            pb::CheckpointReply().GetTypeName().substr(sizeof("leeway.wire.pb.") - 1));
}

TEST(KindTest, ReservedKindsHaveNames) {
  const char* const names[] = {"Notify", "ReSync", "Plan", "HandOver", "Held", "Commit", "Probe"};
  for (std::uint8_t i = 0; i < std::size(names); ++i)
    EXPECT_EQ(KindName(Kind{static_cast<std::uint8_t>(48 + i)}), names[i]);
}

TEST(KindTest, UnknownKindsAreNumbered) {
  EXPECT_EQ(KindName(Kind{0}), "kind 0");
  EXPECT_EQ(KindName(Kind{77}), "kind 77");
  EXPECT_EQ(KindName(Kind{255}), "kind 255");
}

TEST(KindTest, EveryByteHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int kind = 0; kind < 256; ++kind) names.emplace(KindName(Kind{static_cast<std::uint8_t>(kind)}));
  EXPECT_EQ(names.size(), 256U);
}

}  // namespace
}  // namespace leeway::wire
