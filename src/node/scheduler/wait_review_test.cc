#include "node/scheduler/wait_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WaitReviewTest : public ::testing::Test {
 protected:
  void Report(std::uint32_t rank, bool waits) {
    waits_on.OnReport(WorkerId(rank), 1000 + rank, waits, 1, world.clock.now);
  }
  Result<std::optional<WaitGraph::Round>> Review(seconds wait_max = seconds(0)) {
    return ReviewWaits(waits_on, {job.members, wait_max, Epoch(1), world.clock.now, world.log,
                                  [this](WorkerId rank, const std::string& why) {
                                    given_up.push_back(std::to_string(rank.value()) + ": " + why);
                                    return true;
                                  }});
  }
  void Answer(std::uint32_t rank, std::uint64_t round, const wire::pb::WhyReply& reply) {
    auto answer = ReadAnswer(reply, WorkerId(rank), barriers, job.members);
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    waits_on.OnAnswer(WorkerId(rank), 1000 + rank, round, std::move(*answer));
  }
  static wire::pb::WhyReply WaitsFor(std::uint32_t rank) {
    wire::pb::WhyReply reply;
    reply.set_acts(1);
    reply.set_waits(true);
    reply.set_settled(true);
    wire::pb::OpenWait& open = *reply.add_open();
    open.set_what("table \"t\"");
    open.add_missing(rank);
    return reply;
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  Barriers barriers;
  Reports reports;
  WaitGraph waits_on{seconds(1)};
  std::vector<std::string> given_up;
};

TEST_F(WaitReviewTest, WorkersThatWaitForEachOtherEndTheJob) {
  Report(0, true);
  Report(1, true);
  world.Advance(seconds(4));
  std::string ended;
  for (int i = 0; i < 4 && ended.empty(); ++i) {
    const auto round = Review();
    if (!round.ok()) {
      ended = round.status().message();
    } else if (*round) {
      EXPECT_THAT((*round)->asked, ElementsAre(WorkerId(0), WorkerId(1)));
      Answer(0, (*round)->number, WaitsFor(1));
      Answer(1, (*round)->number, WaitsFor(0));
    }
    world.Advance(seconds(1));
  }
  EXPECT_THAT(ended, HasSubstr("the workers wait for each other, and none computes"));
}

TEST_F(WaitReviewTest, AWorkerThatIsWaitedForIsNamedAndThenGivenUp) {
  Report(0, true);
  Report(1, false);
  world.Advance(seconds(4));
  const auto round = Review(seconds(120));
  ASSERT_TRUE(round.ok() && *round);
  Answer(0, (*round)->number, WaitsFor(1));
  world.Advance(seconds(60));
  ASSERT_TRUE(Review(seconds(120)).ok());
  EXPECT_THAT(given_up, IsEmpty());
  ASSERT_THAT(world.log.lines, SizeIs(1));
  EXPECT_THAT(world.log.lines[0], HasSubstr("worker 1"));
  EXPECT_THAT(world.log.lines[0], HasSubstr("is given up after 120.0 s (--wait-max)"));
  world.Advance(seconds(60));
  ASSERT_TRUE(Review(seconds(120)).ok());
  ASSERT_THAT(given_up, SizeIs(1));
  EXPECT_THAT(given_up[0], HasSubstr("1: it has made no call for"));
}

TEST_F(WaitReviewTest, AnAnswerAtABarrierNamesThoseWhoHaveNotCome) {
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 1}).ok());
  wire::pb::WhyReply reply;
  wire::pb::OpenWait& open = *reply.add_open();
  open.set_at_barrier(true);
  open.set_barrier("b");
  const auto answer = ReadAnswer(reply, WorkerId(0), barriers, job.members);
  ASSERT_TRUE(answer.ok());
  EXPECT_THAT(answer->open.at(0).missing, ElementsAre(WorkerId(1)));
}

TEST_F(WaitReviewTest, AListThatNoWorkerSendsBreaksTheProtocol) {
  wire::pb::WhyReply reply;
  for (int i = 0; i < 257; ++i) (void)reply.add_open();
  EXPECT_FALSE(ReadAnswer(reply, WorkerId(0), barriers, job.members).ok());
}

TEST_F(WaitReviewTest, AWorkerThatAsksHearsWhatTheOthersDo) {
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 1}).ok());
  Report(1, false);
  world.Advance(seconds(2));
  wire::pb::Report report;
  report.set_iteration(5);
  reports.workers[WorkerId(1)].Take(report, 1001, world.clock.now);
  wire::pb::Why why;
  why.set_request(9);
  why.set_at_barrier(true);
  why.set_barrier("b");
  why.add_ranks(70);  // no such worker
  const wire::pb::WhyReply reply =
      ExplainWait({why, WorkerId(0), world.clock.now}, job.members, barriers, reports, waits_on);
  EXPECT_EQ(reply.request(), 9U);
  EXPECT_THAT(reply.missing(), ElementsAre(1U));
  ASSERT_THAT(reply.standings(), SizeIs(1));
  EXPECT_EQ(reply.standings(0).iteration(), 5);
  EXPECT_EQ(reply.standings(0).state(), "joined");
  EXPECT_DOUBLE_EQ(reply.standings(0).idle_s(), 2.0);
}

}  // namespace
}  // namespace leeway
