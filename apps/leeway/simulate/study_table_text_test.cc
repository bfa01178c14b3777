#include "simulate/study_table_text.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

const StudyTable kTable{
    .columns = {"", "time s", "wait s", "GB"},
    .rows = {{"bsp", "53.30 ± 0.73", "31.95", "0.49"}, {"pssp:3,0.5", "49.19", "27.6", "0.49"}},
    .note = "Two seeds."};

TEST(StudyTableTextTest, AlignsByCharactersAndNotByBytes) {
  EXPECT_EQ(StudyTableText(kTable, 80),
            "                    time s  wait s    GB\n"
            "  --------------------------------------\n"
            "  bsp         53.30 ± 0.73   31.95  0.49\n"
            "  pssp:3,0.5         49.19    27.6  0.49\n"
            "  Two seeds.\n");
}

TEST(StudyTableTextTest, AWideTableIsCutAndWhatIsEqualFollowsBelow) {
  EXPECT_EQ(StudyTableText(kTable, 30),
            "                    time s\n"
            "  ------------------------\n"
            "  bsp         53.30 ± 0.73\n"
            "  pssp:3,0.5         49.19\n"
            "\n"
            "              wait s\n"
            "  ------------------\n"
            "  bsp          31.95\n"
            "  pssp:3,0.5    27.6\n"
            "  GB: 0.49 in every row\n"
            "  Two seeds.\n");
}

TEST(StudyTableTextTest, NoLabelMovesACursor) {
  const std::string text =
      StudyTableText({.columns = {"", "a"}, .rows = {{"x\x1b[2Jy", "1"}}, .note = ""}, 80);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace leeway::app
