#include "block/window_notes.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

MemberKey Life(std::uint32_t worker, std::uint32_t life = 1) { return {WorkerId(worker), Incarnation(life)}; }

TEST(WindowNotesTest, NotesAreTakenByIterationUpToTheEndOfTheWindow) {
  WindowNotes notes;
  notes.Add({Life(0), Seq(3), Iteration(5)});
  notes.Add({Life(1), Seq(1), Iteration(4)});
  EXPECT_FALSE(notes.TakeBelow(Iteration(4)));
  const auto first = notes.TakeBelow(Iteration(6));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->from, Life(1));
  EXPECT_EQ(first->seq, Seq(1));
  EXPECT_EQ(notes.TakeBelow(Iteration(6))->from, Life(0));
  EXPECT_FALSE(notes.TakeBelow(kIterationMax));
}

TEST(WindowNotesTest, AWorkerHasOneNote) {
  WindowNotes notes;
  notes.Add({Life(0), Seq(3), Iteration(5)});
  notes.Add({Life(0), Seq(4), Iteration(6)});
  EXPECT_FALSE(notes.TakeBelow(Iteration(6)));
  EXPECT_EQ(notes.TakeBelow(Iteration(7))->seq, Seq(4));
  EXPECT_FALSE(notes.TakeBelow(kIterationMax));
}

TEST(WindowNotesTest, AnotherLifeDropsNothing) {
  WindowNotes notes;
  notes.Add({Life(0, 2), Seq(3), Iteration(5)});
  notes.Drop(Life(0, 1));
  EXPECT_TRUE(notes.TakeBelow(kIterationMax));
  notes.Add({Life(0, 2), Seq(3), Iteration(5)});
  notes.Drop(Life(0, 2));
  EXPECT_FALSE(notes.TakeBelow(kIterationMax));
}

}  // namespace
}  // namespace leeway
