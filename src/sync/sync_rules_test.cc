#include "sync/sync_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/hash.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

SyncRule MustRule(std::string_view text) {
  Result<SyncRule> rule = ParseSyncRule(text);
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  return rule.ok() ? *rule : SyncRule{};
}

TEST(SyncRulesTest, WordsComeInAnyOrder) {
  const SyncRule wanted{.tables = "fc*", .server = 1, .sync = "pssp:3,0.5", .apply = "immediate"};
  EXPECT_EQ(MustRule("tables=fc* server=1 sync=pssp:3,0.5 apply=immediate"), wanted);
  EXPECT_EQ(MustRule("  apply=immediate   sync=pssp:3,0.5 server=1 tables=fc*  "), wanted);
  EXPECT_EQ(MustRule("sync=bsp"), (SyncRule{.sync = "bsp"}));
  EXPECT_EQ(MustRule("apply=aggregate:window=3 server=0"),
            (SyncRule{.server = 0, .apply = "aggregate:window=3"}));
}

TEST(SyncRulesTest, QuotesKeepSpaces) {
  const std::string spec = "when:pull=\"progress < v_train + s\",s=3";
  EXPECT_EQ(MustRule("sync=" + spec + " tables=fc*"), (SyncRule{.tables = "fc*", .sync = spec}));
  EXPECT_EQ(MustRule("tables=\"my \\\"best\\\" layer\" sync=bsp"),
            (SyncRule{.tables = "my \"best\" layer", .sync = "bsp"}));
  EXPECT_EQ(MustRule("sync=\"when:pull=\\\"gap < 3\\\"\""), (SyncRule{.sync = "when:pull=\"gap < 3\""}));
}

TEST(SyncRulesTest, ARuleAsTextIsTheSameRule) {
  for (const SyncRule& rule :
       {SyncRule{.sync = "bsp"},
        SyncRule{.tables = "fc*", .server = 7, .sync = "ssp:3", .apply = "immediate"},
        SyncRule{.tables = "a b", .sync = "when:pull=\"gap < 3\",push=\"count >= workers\""},
        SyncRule{.tables = "\"", .apply = "aggregate"}, SyncRule{.tables = "a\\b\"c d", .sync = "bsp"},
        SyncRule{.tables = "a=b", .sync = "bsp"}}) {
    const Result<SyncRule> again = ParseSyncRule(ToText(rule));
    ASSERT_TRUE(again.ok()) << ToText(rule) << ": " << again.status().ToString();
    EXPECT_EQ(*again, rule) << ToText(rule);
  }
  EXPECT_EQ(ToText(MustRule("server=1 tables=fc* apply=immediate sync=ssp:3")),
            "tables=fc* server=1 sync=ssp:3 apply=immediate");
}

TEST(SyncRulesTest, AnyTextIsRefusedOrComesBackEqual) {
  std::uint64_t random = 11;
  const std::vector<std::string> pieces = {"tables=", "server=", "sync=", "apply=", "bsp", "ssp:3",
                                           "1",       "*",       " ",     "\"",     "\\",  "=",
                                           "x",       ",",       ":",     "fc?"};
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::uint64_t n = (random = Mix64(random)) % 10; n > 0; --n) {
      text += pieces[(random = Mix64(random)) % pieces.size()];
    }
    const Result<SyncRule> rule = ParseSyncRule(text);
    if (!rule.ok()) {
      EXPECT_FALSE(rule.status().message().empty());
      continue;
    }
    ++accepted;
    const Result<SyncRule> again = ParseSyncRule(ToText(*rule));
    ASSERT_TRUE(again.ok()) << text << " -> " << ToText(*rule);
    EXPECT_EQ(*again, *rule) << text;
  }
  EXPECT_GT(accepted, 100);
}

TEST(SyncRulesTest, WhatIsWrongIsToldWithRuleWordGotAndWanted) {
  struct Case {
    const char* text;
    const char* says;
  };
  for (const Case& c : {
           Case{"", "rule \"\": got neither sync= nor apply=, wanted one of them, such as sync=ssp:3"},
           Case{"tables=fc*", "rule \"tables=fc*\": got neither sync= nor apply="},
           Case{"table=fc* sync=bsp",
                "rule \"table=fc* sync=bsp\": unknown word \"table\"; known: tables, server, "
                "sync, apply (did you mean \"tables\"?)"},
           Case{"bsp",
                "got \"bsp\" at position 1, wanted tables=, server=, sync= or apply=, such as sync=ssp:3"},
           Case{"sync=bsp asp", "got \"asp\" at position 10"},
           Case{"sync=bsp sync=asp", "sync: got it twice, wanted it once"},
           Case{"sync=", "sync: got nothing, wanted a sync model, such as ssp:3"},
           Case{"sync= tables=x", "sync: got nothing"},
           Case{"sync=bsp tables=\"\"", "tables: got nothing, wanted names of tables"},
           Case{"sync=bsp server=", "server: got nothing, wanted a server's number"},
           Case{"sync=bsp server=x", "server: got \"x\", wanted a server's number, from 0"},
           Case{"sync=bsp server=-1", "server: got \"-1\""},
           Case{"sync=bsp server=99999999999", "server: got \"99999999999\""},
           Case{"sync=ssp:", "sync: spec \"ssp:\": got its end at position 5"},
           Case{"apply=(", "apply: spec \"(\""},
           Case{"sync=when:pull=\"a",
                "sync: got a quote at position 16 that does not end, wanted a closing \""},
           Case{"sync=\"bsp\"x", "sync: got 'x' at position 11 after a closing quote, wanted a space"},
           Case{"sync=bsp\nserver=1", "got byte 0x0A at position 9"},
       }) {
    const Result<SyncRule> rule = ParseSyncRule(c.text);
    ASSERT_FALSE(rule.ok()) << c.text;
    EXPECT_THAT(rule.status().message(), HasSubstr(c.says)) << c.text;
  }
  const Result<SyncRule> endless = ParseSyncRule("sync=" + std::string(20'000, 'b'));
  ASSERT_FALSE(endless.ok());
  EXPECT_LT(endless.status().message().size(), 400U);
}

TEST(SyncRulesTest, TablesAreFoundByGlob) {
  struct Case {
    const char* glob;
    const char* name;
    bool fits;
  };
  for (const Case& c :
       {Case{"*", "", true}, Case{"*", "fc1", true}, Case{"fc*", "fc1.weight", true},
        Case{"fc*", "xfc", false}, Case{"*.weight", "fc1.weight", true},
        Case{"*.weight", "fc1.weights", false}, Case{"fc?", "fc1", true}, Case{"fc?", "fc", false},
        Case{"fc?", "fc12", false}, Case{"a*b*c", "a1b2b3c", true}, Case{"a*b*c", "a1b2b3", false},
        Case{"fc1", "fc1", true}, Case{"fc1", "FC1", false}, Case{"**", "x", true}}) {
    EXPECT_EQ(Fits({.tables = c.glob, .sync = "bsp"}, c.name, 0), c.fits) << c.glob << " " << c.name;
  }
  // No glob takes forever.
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "a*";
  EXPECT_FALSE(Fits({.tables = stars + "b", .sync = "bsp"}, std::string(5000, 'a'), 0));
}

TEST(SyncRulesTest, TheLastRuleThatFitsCounts) {
  // FluentPS, Figure 2, and tables of their own.
  const std::vector<SyncRule> rules = {MustRule("server=0 sync=ssp:3"), MustRule("server=1 sync=pssp:3,0.5"),
                                       MustRule("server=2 sync=drop:3"), MustRule("tables=fc* sync=psp:3,5"),
                                       MustRule("tables=fc2 server=1 apply=aggregate:reduce=ordered")};
  const SyncChoice base{"bsp", "aggregate:window=3"};
  EXPECT_EQ(Choose(rules, base, "conv1", 0), (SyncChoice{"ssp:3", ""}));
  EXPECT_EQ(Choose(rules, base, "conv1", 1), (SyncChoice{"pssp:3,0.5", ""}));
  EXPECT_EQ(Choose(rules, base, "conv1", 2), (SyncChoice{"drop:3", ""}));
  EXPECT_EQ(Choose(rules, base, "conv1", 3), base);
  EXPECT_EQ(Choose(rules, base, "fc1", 0), (SyncChoice{"psp:3,5", ""}));
  EXPECT_EQ(Choose(rules, base, "fc2", 0), (SyncChoice{"psp:3,5", ""}));
  EXPECT_EQ(Choose(rules, base, "fc2", 1), (SyncChoice{"psp:3,5", "aggregate:reduce=ordered"}));
  EXPECT_EQ(Choose({}, base, "fc2", 1), base);
  const std::vector<SyncRule> only_apply = {MustRule("apply=immediate")};
  EXPECT_EQ(Choose(only_apply, base, "fc2", 1), (SyncChoice{"bsp", "immediate"}));
}

}  // namespace
}  // namespace leeway
