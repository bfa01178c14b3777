#include "node/worker/stall_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

StallFacts Facts(Wait::Cause cause) {
  StallFacts facts;
  facts.self = WorkerId(0);
  facts.wait = {cause, "something, for 10.0 s"};
  facts.sync = "bsp";
  facts.shard = "server 1 shard 0";
  facts.shard_up = true;
  facts.scheduler_up = true;
  facts.scheduler_age_s = 0.3;
  facts.give_up_after_s = 30;
  return facts;
}

wire::pb::WhyReply OfShard(std::initializer_list<std::uint32_t> missing) {
  wire::pb::WhyReply reply;
  reply.set_known(true);
  reply.set_initialized(true);
  reply.set_delayed(true);
  reply.set_v_train(41);
  for (const std::uint32_t rank : missing) reply.add_missing(rank);
  return reply;
}

wire::pb::Standing& Add(wire::pb::WhyReply& reply, std::uint32_t rank, const char* state = "joined") {
  wire::pb::Standing& who = *reply.add_standings();
  who.set_rank(rank);
  who.set_state(state);
  who.set_iteration(41);
  who.set_silent_s(0.5);
  who.set_host("box");
  who.set_pid(812);
  return who;
}

TEST(StallTextTest, ValuesNameConditionCulpritItsAgeAndWhatToDo) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard = OfShard({2});
  facts.of_scheduler.emplace();
  Add(*facts.of_scheduler, 2);
  EXPECT_EQ(
      StallText(facts),
      "something, for 10.0 s\n"
      "  under bsp, until iteration 41 ends there; it lacks worker 2\n"
      "  worker 2 (process 812 on box) is in iteration 41, last heard of 0.5 s ago, waits for nothing of the "
      "job\n"
      "  what to do: see whether process 812 on box computes or hangs (py-spy dump --pid shows where); a "
      "looser model (--sync ssp:3) lets the others run ahead of a slow one");
}

TEST(StallTextTest, OneThatIsSilentComesBeforeOneThatIsSlow) {
  StallFacts facts = Facts(Wait::Cause::kVerdict);
  facts.of_shard = OfShard({2, 3});
  facts.of_scheduler.emplace();
  Add(*facts.of_scheduler, 2);
  Add(*facts.of_scheduler, 3, "suspect").set_silent_s(8.2);
  EXPECT_THAT(StallText(facts),
              AllOf(HasSubstr("it lacks workers 2, 3"), HasSubstr("last heard of 8.2 s ago"),
                    HasSubstr("what to do: process 812 on box is stopped, dead or cut off")));
  facts.of_scheduler->mutable_standings(1)->set_state("lost");
  EXPECT_THAT(StallText(facts),
              AllOf(HasSubstr("worker 3 (process 812 on box) is lost, and its place is kept"),
                    HasSubstr("what to do: start another worker with rank 3")));
}

TEST(StallTextTest, OneThatWaitsItselfIsFollowed) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard = OfShard({2});
  facts.of_scheduler.emplace();
  Add(*facts.of_scheduler, 2).set_waiting_for("batches of pool \"p\", for 9.0 s");
  EXPECT_THAT(StallText(facts), AllOf(HasSubstr("waits for batches of pool \"p\""),
                                      HasSubstr("what to do: worker 2 waits itself")));
}

TEST(StallTextTest, ATableWithoutValuesSaysWhoMustGiveThem) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard.emplace();
  facts.of_shard->set_known(true);
  EXPECT_THAT(StallText(facts), AllOf(HasSubstr("no rank has given the table its first values"),
                                      HasSubstr("what to do: let one rank call Broadcast")));
}

TEST(StallTextTest, AServerThatIsLostOrSilent) {
  StallFacts facts = Facts(Wait::Cause::kVerdict);
  EXPECT_THAT(StallText(facts),
              AllOf(HasSubstr("server 1 shard 0 is connected and does not say why"),
                    HasSubstr("what to do: look at the log and the load of server 1 shard 0")));
  facts.shard_up = false;
  EXPECT_THAT(
      StallText(facts),
      AllOf(HasSubstr("server 1 shard 0 is not connected"),
            HasSubstr("what to do: see whether server 1 shard 0 runs and can be reached; this process "
                      "tries to connect again for 30 s")));
}

TEST(StallTextTest, ASchedulerThatIsLost) {
  for (const Wait::Cause cause : {Wait::Cause::kScheduler, Wait::Cause::kBarrier, Wait::Cause::kBatches}) {
    StallFacts facts = Facts(cause);
    facts.scheduler_up = false;
    facts.scheduler_age_s = 12;
    EXPECT_THAT(StallText(facts),
                AllOf(HasSubstr("the scheduler is not connected; it was last heard of 12.0 s ago"),
                      HasSubstr("what to do: see whether the scheduler runs and can be reached")));
  }
}

TEST(StallTextTest, ABarrierNamesWhoHasNotCalledIt) {
  StallFacts facts = Facts(Wait::Cause::kBarrier);
  facts.of_scheduler.emplace();
  facts.of_scheduler->add_missing(3);
  Add(*facts.of_scheduler, 3);
  EXPECT_THAT(StallText(facts),
              AllOf(HasSubstr("until every member has called it; it lacks worker 3"),
                    HasSubstr("what to do: see why process 812 on box does not come to it")));
}

TEST(StallTextTest, AGatheringNamesWhoHasNotCome) {
  StallFacts facts = Facts(Wait::Cause::kGathering);
  facts.of_scheduler.emplace();
  facts.of_scheduler->set_not_here("worker 1, shard 0 of server 1");
  EXPECT_THAT(StallText(facts), AllOf(HasSubstr("it lacks worker 1, shard 0 of server 1"),
                                      HasSubstr("what to do: start what is missing")));
}

TEST(StallTextTest, TheEndNamesWhoIsStillThere) {
  StallFacts facts = Facts(Wait::Cause::kMembers);
  facts.wait.ranks = {1, 2};
  EXPECT_THAT(StallText(facts), AllOf(HasSubstr("still in the job: workers 1, 2"), HasSubstr("kill -QUIT")));
}

TEST(StallTextTest, ManyAreCountedAndNotAllNamed) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard = OfShard({1, 2, 3, 4, 5, 6});
  facts.of_scheduler.emplace();
  for (const std::uint32_t rank : {1U, 2U, 3U, 4U, 5U, 6U}) Add(*facts.of_scheduler, rank);
  EXPECT_THAT(StallText(facts), HasSubstr("\n  and 2 more workers\n"));
}

TEST(StallTextTest, ThisWorkersOwnPushThatIsMissingIsSaidSo) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard = OfShard({0});
  facts.of_scheduler.emplace();
  Add(*facts.of_scheduler, 0);
  EXPECT_THAT(StallText(facts), AllOf(HasSubstr("worker 0, this one, is in iteration 41"),
                                      HasSubstr("its own push has not come through")));
}

TEST(StallTextTest, OneThatComputesIsSaidToMakeNoCall) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  facts.of_shard = OfShard({2});
  Add(facts.of_scheduler.emplace(), 2).set_idle_s(61);
  EXPECT_THAT(StallText(facts), HasSubstr("waits for nothing of the job, has made no call for 61.0 s"));
}

TEST(StallTextTest, WhatIsUpToMembersIsToldFromWhatIsNot) {
  StallFacts facts = Facts(Wait::Cause::kValues);
  EXPECT_FALSE(IsForMembers(facts)) << "the shard does not say";
  facts.of_shard = OfShard({2});
  EXPECT_TRUE(IsForMembers(facts));
  facts.of_shard = OfShard({0});
  EXPECT_FALSE(IsForMembers(facts)) << "its own push";
  facts.of_shard = OfShard({});
  facts.of_shard->set_initialized(false);
  EXPECT_TRUE(IsForMembers(facts)) << "another rank may give the table its first values";
  facts.alone = true;
  EXPECT_FALSE(IsForMembers(facts)) << "nobody else will";
  facts.alone = false;
  facts.of_shard = OfShard({2});
  facts.of_shard->set_delayed(false);
  EXPECT_FALSE(IsForMembers(facts)) << "no pull waits there: the server owes the answer";
  facts.of_shard->set_delayed(true);
  facts.wait.is_read = true;
  EXPECT_FALSE(IsForMembers(facts)) << "a read waits for no member";

  facts = Facts(Wait::Cause::kVerdict);
  facts.of_shard = OfShard({2});
  EXPECT_FALSE(IsForMembers(facts)) << "the server owes the verdict";
  facts.wait.held = Iteration(42);
  EXPECT_TRUE(IsForMembers(facts)) << "the server takes it once iteration 41 has ended";
  facts.wait.held = Iteration(41);
  EXPECT_FALSE(IsForMembers(facts)) << "the server owes the word that it takes the push now";

  facts = Facts(Wait::Cause::kBarrier);
  EXPECT_FALSE(IsForMembers(facts));
  facts.of_scheduler.emplace().add_missing(3);
  EXPECT_TRUE(IsForMembers(facts));
  EXPECT_TRUE(IsForMembers(Facts(Wait::Cause::kMembers)));
  EXPECT_FALSE(IsForMembers(Facts(Wait::Cause::kBatches)));
  EXPECT_FALSE(IsForMembers(Facts(Wait::Cause::kScheduler)));
}

}  // namespace
}  // namespace leeway
