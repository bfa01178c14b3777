#include "node/worker/inquiries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

// A scheduler and a shard that are connected, and answered by hand.
class InquiriesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    to[0] = links.Connect(*scheduler);
    to[1] = links.Connect(*shard);
    env.transport.sent.clear();
  }
  Explained Told() {
    return [this](const std::string& why, bool members) {
      text = why;
      for_members = members;
    };
  }
  static StallFacts Facts() {
    StallFacts facts;
    facts.scheduler_up = facts.shard_up = true;
    facts.shard = "server 0 shard 0";
    facts.wait = {Wait::Cause::kValues, "table \"w\" block 0"};
    return facts;
  }
  // The question that was put to the scheduler (0) or the shard (1); nothing: none was.
  std::optional<wire::pb::Why> Asked(std::size_t whom) {
    const auto sent = env.transport.TakeSent(to[whom], wire::Kind::kWhy);
    if (sent.empty()) return std::nullopt;
    return testing::ParseAs<wire::pb::Why>(sent[0]);
  }
  static wire::pb::WhyReply Missing(std::uint64_t request, std::uint32_t rank) {
    wire::pb::WhyReply reply;
    reply.set_request(request);
    reply.set_known(true);
    reply.set_initialized(true);
    reply.set_delayed(true);
    reply.add_missing(rank);
    return reply;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  DueCallbacks due;
  std::unique_ptr<Link> scheduler = links.Make(0, "the scheduler"), shard = links.Make(1, "server 0 shard 0");
  ConnectionId to[2];
  std::optional<std::string> text;
  bool for_members = false;
  std::optional<wire::pb::WhyReply> surveyed;
  Inquiries inquiries{env.timers, due, *scheduler, [this](wire::pb::WhyReply reply) { surveyed = reply; }};
};

TEST_F(InquiriesTest, FirstTheShardIsAskedThenTheSchedulerAboutThoseThatItMisses) {
  inquiries.Explain(Facts(), shard.get(), BlockId(4), Told());
  const auto of_shard = Asked(1);
  ASSERT_TRUE(of_shard.has_value());
  EXPECT_EQ(of_shard->block(), 4U);
  EXPECT_FALSE(Asked(0).has_value());
  inquiries.OnReply(Missing(of_shard->request(), 3), false);
  const auto of_scheduler = Asked(0);
  ASSERT_TRUE(of_scheduler.has_value());
  ASSERT_EQ(of_scheduler->ranks_size(), 1);
  EXPECT_EQ(of_scheduler->ranks(0), 3U);
  inquiries.OnReply(Missing(of_scheduler->request(), 3), true);
  due.Run();
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("table \"w\" block 0"));
  EXPECT_TRUE(for_members);
}

TEST_F(InquiriesTest, PeersThatSayNothingHoldTheAnswerBackForASecondEach) {
  StallFacts facts = Facts();
  facts.wait.ranks = {3};
  inquiries.Explain(std::move(facts), shard.get(), BlockId(4), Told());
  env.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Asked(0).has_value());
  EXPECT_FALSE(text.has_value());
  env.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(text.has_value());
}

TEST_F(InquiriesTest, ASchedulerThatCanKnowNoMoreIsNotAsked) {
  inquiries.Explain(Facts(), nullptr, BlockId(0), Told());
  EXPECT_FALSE(Asked(0).has_value());
  due.Run();
  EXPECT_TRUE(text.has_value());
}

TEST_F(InquiriesTest, OnlySoManyQuestionsAreOpen) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(inquiries.full());
    inquiries.Explain(Facts(), shard.get(), BlockId(0), Told());
  }
  EXPECT_TRUE(inquiries.full());
  inquiries.Drop();
  EXPECT_FALSE(inquiries.full());
  env.Advance(std::chrono::seconds(5));
  EXPECT_FALSE(text.has_value()) << "nobody is told";
}

TEST_F(InquiriesTest, TheSchedulersQuestionIsAnsweredOnceItsShardsHaveAnswered) {
  inquiries.Survey(9, [this] { inquiries.AskShard(*shard, BlockId(2), {"table \"w\""}); });
  const auto asked = Asked(1);
  ASSERT_TRUE(asked.has_value());
  EXPECT_FALSE(surveyed.has_value());
  inquiries.OnReply(Missing(asked->request(), 5), false);
  ASSERT_TRUE(surveyed.has_value());
  EXPECT_EQ(surveyed->request(), 9U);
  ASSERT_EQ(surveyed->open_size(), 1);
  EXPECT_EQ(surveyed->open(0).missing(0), 5U);
}

TEST_F(InquiriesTest, AShardThatIsSilentDoesNotHoldTheSchedulerUp) {
  inquiries.Survey(9, [this] { inquiries.AskShard(*shard, BlockId(2), {"table \"w\""}); });
  env.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(surveyed.has_value());
  EXPECT_EQ(surveyed->open(0).missing_size(), 0);
  surveyed.reset();
  inquiries.Survey(10, [] {});
  ASSERT_TRUE(surveyed.has_value()) << "with nothing to ask at once";
  EXPECT_EQ(surveyed->request(), 10U);
}

}  // namespace
}  // namespace leeway
