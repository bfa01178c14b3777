// Rules: the synchronization of every table on every server, refusals, and changes by a switch.
#include "node/scheduler/sync_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "exchange/exchanges.h"
#include "node/scheduler/table_registry.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SyncChoicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    job.workers = 4;
    job.servers = 3;
  }
  std::unique_ptr<TableRegistry> Make() {
    auto made =
        std::make_unique<TableRegistry>(job, SchedulerPolicies{sync, optimizers, placements, exchanges});
    const Status checked = made->Check();
    EXPECT_TRUE(checked.ok()) << checked.ToString();
    return made;
  }
  TableRegistry& registry() {
    if (registry_ == nullptr) registry_ = Make();
    return *registry_;
  }
  Status CheckJob() {
    return TableRegistry(job, SchedulerPolicies{sync, optimizers, placements, exchanges}).Check();
  }
  Status Define(const std::string& name, const std::string& sync_spec = "", const std::string& apply = "",
                TableClock clock = TableClock::kJob) {
    wire::pb::DefineTables request;
    wire::pb::Table& table = *request.add_tables();
    table.set_name(name);
    table.add_shape(4);
    table.set_dtype(1);
    table.set_sync(sync_spec);
    table.set_apply(apply);
    table.set_clock(static_cast<std::uint32_t>(clock));
    return registry().Define(request, Epoch(2)).status();
  }
  // "bsp / 1: ssp:3 + immediate": what all servers have, then those that differ.
  static std::string Has(const TableRegistry& of, std::size_t table) {
    const wire::pb::Table& map = of.all()[table].map;
    const auto pair = [](const std::string& s, const std::string& a) {
      return a.empty() ? s : s + " + " + a;
    };
    std::string text = pair(map.sync(), map.apply());
    for (const wire::pb::ServerSync& other : map.of_servers()) {
      text += " / " + std::to_string(other.server()) + ": " + pair(other.sync(), other.apply());
    }
    return text;
  }
  std::string Has(std::size_t table) { return Has(registry(), table); }

  JobOptions job;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  std::unique_ptr<TableRegistry> registry_;
};

// As bsp, but counts how often it is tried.
class CountedModel final : public SyncModel {
 public:
  CountedModel(int& trials, bool sound) : trials_(trials), sound_(sound) {}
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kNow;
  }
  Advance MayAdvance(const SyncView&, Memory&) const override { return Advance::Yes(); }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "immediate"; }
  Status Try() const override {
    ++trials_;
    return sound_ ? Status::Ok() : InvalidArgument("it lets nobody pass");
  }
  std::string PullCondition() const override { return "always"; }
  std::string PushCondition() const override { return "always"; }

 private:
  int& trials_;
  const bool sound_;
};

TEST_F(SyncChoicesTest, ASpecIsTriedOnceHoweverManyTablesItMeans) {
  int trials = 0;
  sync.Add("counted", [&trials](const PolicyConfig& config) -> Result<SyncModelPtr> {
    LW_ASSIGN_OR_RETURN(const std::int64_t sound, config.IntInRange("sound", 0, 9));
    return SyncModelPtr(std::make_unique<CountedModel>(trials, sound > 0));
  });
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(Define(name, "counted:1").ok());
  EXPECT_EQ(trials, 1);
  EXPECT_TRUE(registry().Switch("sync=counted:2").ok());
  EXPECT_EQ(trials, 2);
  EXPECT_TRUE(registry().Switch("server=1 sync=counted:2").ok());
  EXPECT_EQ(trials, 2);
  EXPECT_THAT(Define("e", "counted:0").message(), HasSubstr("it lets nobody pass"));
  EXPECT_THAT(Define("e", "counted:0").message(), HasSubstr("it lets nobody pass")) << "asked again";
}

TEST_F(SyncChoicesTest, EveryServerMayHaveItsOwnModelAsInFigure2) {
  job.rules = {"server=0 sync=ssp:2", "server=1 sync=pssp:2,0.5", "server=2 sync=drop:3"};
  ASSERT_TRUE(Define("w").ok());
  EXPECT_EQ(Has(0), "bsp / 0: ssp:2 / 1: pssp:2,0.5 / 2: drop:3");
}

TEST_F(SyncChoicesTest, TheLastRuleThatFitsCounts) {
  job.sync = "ssp:1";
  job.apply = "immediate";
  job.rules = {"tables=fc* sync=asp", "tables=fc1 server=1 sync=bsp apply=aggregate:reduce=ordered",
               "tables=conv? sync=ssp:9"};
  for (const char* name : {"fc1", "fc2", "conv1", "conv10"}) ASSERT_TRUE(Define(name).ok()) << name;
  EXPECT_EQ(Has(0), "asp / 1: bsp + aggregate:reduce=ordered");
  EXPECT_EQ(Has(1), "asp");
  EXPECT_EQ(Has(2), "ssp:9");
  EXPECT_EQ(Has(3), "ssp:1 + immediate") << "no rule fits: the job's";
}

TEST_F(SyncChoicesTest, ARuleForAllServersAfterOneForOneTakesItBack) {
  job.rules = {"server=1 sync=asp", "sync=ssp:2"};
  ASSERT_TRUE(Define("w").ok());
  EXPECT_EQ(Has(0), "ssp:2");
}

TEST_F(SyncChoicesTest, ATableThatNamesItsOwnModelIsMeantByRulesToo) {
  job.rules = {"tables=fc* sync=asp"};
  ASSERT_TRUE(Define("fc", "ssp:4").ok());
  EXPECT_EQ(Has(0), "asp");
  EXPECT_EQ(registry().all()[0].spec.sync, "ssp:4") << "what a late joiner's definition is compared with";
  EXPECT_TRUE(Define("fc", "ssp:4").ok());
  EXPECT_EQ(Define("fc", "asp").code(), StatusCode::kAlreadyExists);
}

TEST_F(SyncChoicesTest, ARuleWithoutTablesLeavesThoseWithAClockOfTheirOwnAlone) {
  job.rules = {"sync=asp"};
  ASSERT_TRUE(Define("w").ok());
  ASSERT_TRUE(Define("exchange", "bsp", "aggregate", TableClock::kOwn).ok());
  EXPECT_EQ(Has(0), "asp");
  EXPECT_EQ(Has(1), "bsp + aggregate");
  ASSERT_TRUE(registry().Switch("tables=exch* sync=ssp:1").ok());
  EXPECT_EQ(Has(1), "ssp:1") << "named";
}

TEST_F(SyncChoicesTest, AnApplyModeAloneMustFitTheModelThatItWillMeet) {
  const auto wrong = [this](const std::string& sync_spec, std::vector<std::string> rules) -> std::size_t {
    job.sync = sync_spec;
    job.apply = "";
    job.rules = std::move(rules);
    std::size_t which = 99;
    return SyncChoices(job, sync, exchanges).TakeJobRules(&which).ok() ? 99 : which;
  };
  EXPECT_EQ(wrong("bsp", {"apply=aggregate"}), 99U);
  EXPECT_EQ(wrong("asp", {"apply=aggregate"}), 0U);
  EXPECT_EQ(wrong("asp", {"sync=bsp", "apply=aggregate"}), 99U) << "the rule before it counts";
  EXPECT_EQ(wrong("bsp", {"server=1 sync=asp", "apply=aggregate"}), 1U) << "on server 1";
  EXPECT_EQ(wrong("bsp", {"server=1 sync=asp", "server=0 apply=aggregate"}), 99U);
  EXPECT_EQ(wrong("asp", {"tables=fc* sync=bsp", "tables=fc* apply=aggregate"}), 99U);
  EXPECT_EQ(wrong("asp", {"tables=fc* sync=bsp", "tables=conv? apply=aggregate"}), 1U);
  EXPECT_THAT(SyncChoices(job, sync, exchanges).TakeJobRules().message(),
              AllOf(HasSubstr("sync \"asp\""), HasSubstr("sync=SPEC apply=aggregate")));
}

TEST_F(SyncChoicesTest, RulesThatTheJobCannotHaveAreRefusedBeforeItBegins) {
  const auto refused = [this](const std::string& rule) {
    job.rules = {"sync=bsp", rule};
    const Status status = CheckJob();
    EXPECT_FALSE(status.ok()) << rule;
    return status.message();
  };
  EXPECT_THAT(refused("sync=drop:9"),
              AllOf(HasSubstr("drop:9"), HasSubstr("9 workers"), HasSubstr("job of 4")));
  EXPECT_THAT(refused("server=3 sync=ssp:1"), AllOf(HasSubstr("server=3"), HasSubstr("wanted 0 to 2")));
  EXPECT_THAT(refused("sync=pssp:2,0.5 apply=aggregate"), HasSubstr("aggregate needs a sync model"));
  job.exchange = "every:4";
  EXPECT_THAT(refused("tables=fc* sync=bounded:1"),
              AllOf(HasSubstr("tables=fc* sync=bounded:1"), HasSubstr("exchange \"every:4\"")));
  EXPECT_THAT(refused("sync=bpp"), AllOf(HasSubstr("rule \"sync=bpp\""), HasSubstr("did you mean \"bsp\"?")));
  EXPECT_THAT(refused("snyc=bsp"), HasSubstr("did you mean \"sync\"?"));
  EXPECT_THAT(refused("tables=fc*"), HasSubstr("sync="));
  EXPECT_THAT(refused("apply=bogus"), AllOf(HasSubstr("rule \"apply=bogus\""), HasSubstr("immediate")));
  job.rules.assign(SyncChoices::kRulesMax + 1, "sync=bsp");
  EXPECT_EQ(CheckJob().code(), StatusCode::kResourceExhausted);
  job.rules.clear();
  job.sync = "drop:5";
  EXPECT_THAT(CheckJob().message(), AllOf(HasSubstr("sync and apply of the job"), HasSubstr("5 workers")));
  job.sync = "bsp";
  job.pull = "partail:0.9,50";
  EXPECT_THAT(CheckJob().message(), AllOf(HasSubstr("pull of the job"), HasSubstr("partial")));
  job.pull = "full";
  job.exchange = "every:0";
  EXPECT_THAT(CheckJob().message(), HasSubstr("exchange of the job"));
}

TEST_F(SyncChoicesTest, AnApplyModeAloneIsCheckedWithTheModelOfEachTableAndServer) {
  job.sync = "ssp:2";
  job.rules = {"tables=fc1 server=1 sync=asp", "tables=fc* apply=aggregate"};
  ASSERT_TRUE(Define("conv").ok());
  const Status refused = Define("fc1");
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("table \"fc1\""), HasSubstr("rule \"tables=fc* apply=aggregate\""),
                    HasSubstr("server 1"), HasSubstr("use immediate")));
  EXPECT_EQ(registry().all().size(), 1U);
}

TEST_F(SyncChoicesTest, NoRuleLeadsToRelayOrAwayFromIt) {
  job.rules = {"tables=* apply=relay"};
  EXPECT_THAT(CheckJob().message(), HasSubstr("no rule sets apply relay"));
  job.rules = {};
  ASSERT_TRUE(Define("replica", "", "relay").ok());
  ASSERT_TRUE(Define("w").ok());
  const auto refused = [&](const std::string& rule) {
    const Status status = registry().Switch(rule).status();
    EXPECT_FALSE(status.ok()) << rule;
    EXPECT_EQ(Has(0), "bsp + relay") << rule;
    return status.message();
  };
  EXPECT_THAT(refused("tables=w sync=bsp apply=relay"), HasSubstr("no rule sets apply relay"));
  EXPECT_THAT(refused("sync=ssp:3"), AllOf(HasSubstr("table \"replica\""), HasSubstr("name other tables")));
  EXPECT_THAT(refused("server=1 sync=bsp"), HasSubstr("no rule changes it"));
  EXPECT_TRUE(registry().Switch("tables=w sync=ssp:3").ok());
  EXPECT_EQ(Has(1), "ssp:3");
}

TEST_F(SyncChoicesTest, RelayNeedsLockstepFullPullsAndEveryIteration) {
  EXPECT_THAT(Define("w", "asp", "relay").message(), HasSubstr("wanted bsp"));
  EXPECT_THAT(Define("w", "bsp", "relay", TableClock::kOwn).message(), HasSubstr("a clock of its own"));
  EXPECT_TRUE(Define("w", "ssp:0", "relay:reduce=ordered").ok());
  EXPECT_EQ(registry().all()[0].spec.optimizer, "mean");
  EXPECT_EQ(Define("w", "bsp", "relay").code(), StatusCode::kAlreadyExists);
  const ShardId shard(registry().all()[0].map.blocks(0).shard());
  EXPECT_THAT(registry().Patch(shard, Manifest(), "", true).status().message(),
              HasSubstr("--on-server-loss rollback"));
  wire::pb::DefineTables request;
  wire::pb::Table& table = *request.add_tables();
  table.set_name("stepped");
  table.add_shape(4);
  table.set_dtype(1);
  table.set_apply("relay");
  table.set_optimizer("adam");
  EXPECT_THAT(registry().Define(request, Epoch(2)).status().message(), HasSubstr("run no optimizer"));
  job.apply = "relay";
  job.pull = "partial:0.9,50";
  EXPECT_THAT(CheckJob().message(), HasSubstr("use pull \"full\""));
  job.pull = "full";
  job.exchange = "every:2";
  EXPECT_THAT(CheckJob().message(), HasSubstr("use exchange \"every:1\""));
}

TEST_F(SyncChoicesTest, ASwitchSaysWhichTablesItMeansAndWhichItChanges) {
  for (const char* name : {"fc1", "fc2", "conv"}) ASSERT_TRUE(Define(name).ok());
  ASSERT_TRUE(registry().Switch("tables=fc1 sync=ssp:3").ok());
  const auto switched = registry().Switch("tables=fc* sync=ssp:3");
  ASSERT_TRUE(switched.ok()) << switched.status().ToString();
  EXPECT_THAT(switched->meant, ElementsAre(TableId(0), TableId(1)));
  EXPECT_THAT(switched->changed, ElementsAre(TableId(1)));
  EXPECT_EQ(Has(2), "bsp");
  EXPECT_TRUE(Define("fc3").ok());
  EXPECT_EQ(Has(3), "ssp:3") << "for tables that come later too";
}

TEST_F(SyncChoicesTest, ASwitchThatCannotBeChangesNothing) {
  ASSERT_TRUE(Define("w", "ssp:2").ok());
  ASSERT_TRUE(registry().Switch("server=1 sync=asp").ok());
  const std::string before = Has(0);
  const auto refused = [&](const std::string& rule) {
    const Status status = registry().Switch(rule).status();
    EXPECT_FALSE(status.ok()) << rule;
    EXPECT_EQ(Has(0), before) << rule;
    EXPECT_EQ(registry().Rules().size(), 1U) << rule;
    return status.message();
  };
  EXPECT_THAT(refused("sync=drop:9"), HasSubstr("job of 4"));
  EXPECT_THAT(refused("sync=pssp:3,0.5 apply=aggregate"), HasSubstr("use immediate"));
  EXPECT_THAT(refused("tables=fc* sync=ssp:1"),
              AllOf(HasSubstr("matches no table"), HasSubstr("it has 1: w")));
  EXPECT_THAT(refused("server=7 sync=ssp:1"), HasSubstr("wanted 0 to 2"));
  EXPECT_THAT(refused("apply=aggregate"), AllOf(HasSubstr("table \"w\""), HasSubstr("server 1")));
  EXPECT_THAT(refused("sync=when:pull=\"progres < 3\",push=\"count >= workers\""), HasSubstr("progress"));
  EXPECT_THAT(refused(""), HasSubstr("sync="));
}

TEST_F(SyncChoicesTest, RulesThatANewOneCoversAreForgotten) {
  ASSERT_TRUE(Define("w").ok());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(registry().Switch("sync=ssp:" + std::to_string(i % 7)).ok());
  EXPECT_THAT(registry().Rules(), ElementsAre("sync=ssp:5"));
  ASSERT_TRUE(registry().Switch("server=1 sync=asp").ok());
  ASSERT_TRUE(registry().Switch("server=2 sync=asp").ok());
  ASSERT_TRUE(registry().Switch("server=2 apply=immediate").ok());
  EXPECT_EQ(registry().Rules().size(), 4U);
  ASSERT_TRUE(registry().Switch("sync=bsp").ok());
  EXPECT_THAT(registry().Rules(), ElementsAre("sync=bsp"));
  EXPECT_EQ(Has(0), "bsp");
  for (std::size_t i = 0; i + 1 < SyncChoices::kRulesMax; ++i) {
    ASSERT_TRUE(registry().Switch("tables=w" + std::string(i, '*') + " sync=bsp").ok()) << i;
  }
  EXPECT_THAT(registry().Switch("tables=?* sync=bsp").status().message(), HasSubstr("at most 256"));
}

TEST_F(SyncChoicesTest, ARestartedSchedulerHasTheRulesAndTheSwitchedModelsAgain) {
  job.rules = {"tables=fc* sync=ssp:2"};
  ASSERT_TRUE(Define("fc", "bsp").ok());
  ASSERT_TRUE(Define("conv").ok());
  std::vector<wire::pb::LogRecord> records(1);
  registry().AddAll(records[0]);
  wire::pb::LogRecord unused;
  (void)registry().AddChanges(unused);  // drops the changes that AddAll has put there
  for (const char* rule : {"server=1 sync=asp", "tables=conv sync=ssp:7", "server=1 sync=drop:2"}) {
    ASSERT_TRUE(registry().Switch(rule).ok());
    EXPECT_TRUE(registry().AddChanges(records.emplace_back())) << "in the log before anybody hears of it";
  }
  EXPECT_FALSE(registry().AddChanges(unused)) << "told once";
  const auto again = Make();
  for (const wire::pb::LogRecord& record : records) {
    const Status applied = again->Apply(record);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(Has(*again, i), Has(i)) << i;
  EXPECT_EQ(Has(*again, 0), "ssp:2 / 1: drop:2");
  EXPECT_EQ(again->Rules(), registry().Rules());
  EXPECT_TRUE(again->switched());
  wire::pb::LogRecord whole, whole_again;
  registry().AddAll(whole);
  again->AddAll(whole_again);
  EXPECT_EQ(whole.SerializeAsString(), whole_again.SerializeAsString());
  // Its definitions are still those of the beginning.
  registry_ = Make();
  ASSERT_TRUE(registry().Apply(whole).ok());
  EXPECT_TRUE(Define("fc", "bsp").ok());
  EXPECT_FALSE(Define("fc", "ssp:2").ok());
}

TEST_F(SyncChoicesTest, ALogWithOtherRulesOfTheJobIsOfAnotherJob) {
  job.rules = {"sync=ssp:2"};
  wire::pb::LogRecord record;
  record.set_whole(true);
  registry().AddAll(record);
  job.rules = {"sync=ssp:3"};
  EXPECT_THAT(Make()->Apply(record).message(),
              AllOf(HasSubstr("got [sync=ssp:3]"), HasSubstr("wanted [sync=ssp:2]")));
  record.clear_rules();
  EXPECT_FALSE(Make()->Apply(record).ok()) << "a log without rules is of a job without";
  job.rules.clear();
  EXPECT_TRUE(Make()->Apply(record).ok());
}

}  // namespace
}  // namespace leeway
