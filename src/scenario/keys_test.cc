#include "scenario/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace leeway::scenario {
namespace {

using ::testing::HasSubstr;

TEST(KeysTest, EveryKeyTakesWhatItWrites) {
  Scenario scenario;
  scenario.compute.factors = {{3, 2.5}, {1, 0.5}};
  scenario.rate.at = {100, 200};
  scenario.job.rules = {"server=1 sync=asp"};
  scenario.switches = {"at=1 sync=asp"};
  std::set<std::string> names;
  for (const KeyText& key : KeysOf(scenario)) {
    EXPECT_TRUE(names.insert(key.key).second) << key.key << " is there twice";
    EXPECT_FALSE(key.wanted.empty()) << key.key;
  }
  // Said to another scenario, all of it makes the same one.
  Scenario other;
  for (const KeyText& key : KeysOf(scenario)) {
    std::string bare = key.value;
    std::erase_if(bare, [](char c) { return c == '"' || c == '[' || c == ']' || c == ' '; });
    if (key.key == "policies.switches") bare = "at=1 sync=asp";
    if (key.key == "policies.rules") bare = "server=1 sync=asp";
    const Status set = SetKey(other, key.key, Plain(bare));
    EXPECT_TRUE(set.ok()) << set.ToString();
  }
  EXPECT_EQ(ToToml(other), ToToml(scenario));
}

TEST(KeysTest, AWrongValueIsRefusedAndChangesNothing) {
  Scenario scenario;
  const std::string before = ToToml(scenario);
  const auto refused = [&](const std::string& key, const std::string& value) {
    const Status set = SetKey(scenario, key, Plain(value));
    EXPECT_EQ(set.code(), StatusCode::kInvalidArgument) << key << "=" << value;
    EXPECT_THAT(set.message(), HasSubstr(key));
    EXPECT_THAT(set.message(), HasSubstr("wanted"));
    EXPECT_EQ(ToToml(scenario), before);
  };
  for (const char* value : {"", "x", "-1", "6", "nan", "inf", "1e999", "0.2x", " 0.2"})
    refused("compute.spread", value);
  for (const char* value : {"0", "1.5", "-3", "99999999999999999999", "four"})
    refused("cluster.workers", value);
  for (const char* value : {"yes", "1", "True", ""}) refused("policies.overlap", value);
  for (const char* value : {"3", "3:", ":2", "3:0", "a:2", "1:2,", "1:2,3"})
    refused("compute.factors", value);
  for (const char* value : {"1,x", "-1", "1.5"}) refused("training.rate_at", value);
}

TEST(KeysTest, AnUnknownKeyGetsASuggestion) {
  Scenario scenario;
  const Status set = SetKey(scenario, "compute.spraed", Plain("1"));
  EXPECT_THAT(set.message(), HasSubstr("unknown key \"compute.spraed\""));
  EXPECT_THAT(set.message(), HasSubstr("compute.spread"));
}

TEST(KeysTest, TextIsNoNumberAndAListIsNoValue) {
  Scenario scenario;
  EXPECT_FALSE(SetKey(scenario, "compute.spread", {.texts = {"0.2"}, .is_quoted = true, .got = "text"}).ok());
  EXPECT_FALSE(
      SetKey(scenario, "compute.spread", {.texts = {"1", "2"}, .is_list = true, .got = "a list"}).ok());
  EXPECT_TRUE(
      SetKey(scenario, "training.rate_at", {.texts = {"5", "9"}, .is_list = true, .got = "a list"}).ok());
  EXPECT_EQ(scenario.rate.at, (std::vector<std::uint64_t>{5, 9}));
}

TEST(KeysTest, WhatIsBeyondAsciiIsWrittenWithEscapes) {
  Scenario scenario;
  ASSERT_TRUE(SetKey(scenario, "name", Plain("caf\xC3\xA9 \"\\\" \xF0\x9F\x90\x8C")).ok());
  EXPECT_THAT(ToToml(scenario), HasSubstr(R"(name = "caf\u00E9 \"\\\" \U0001F40C")"));
}

TEST(KeysTest, ANameThatNobodyCheckedIsWrittenAsWellAsItCanBe) {
  Scenario scenario;
  scenario.name = "a\nb\xFF\x7F";  // as of a file
  EXPECT_THAT(ToToml(scenario), HasSubstr(R"(name = "a\u000Ab\uFFFD\u007F")"));
}

TEST(KeysTest, TextsAreUtf8WithoutControlCharacters) {
  const std::pair<std::string, std::string> texts[] = {{"a\nb", R"("a\u000Ab")"},
                                                       {"\x7F", R"("\u007F")"},
                                                       {std::string(1, '\0'), R"("\u0000")"},
                                                       {"\xFF", R"("\uFFFD")"},
                                                       {"\xC3", R"("\uFFFD")"},
                                                       {"\xC0\xAF", R"("\uFFFD\uFFFD")"},
                                                       {"\xED\xA0\x80", R"("\uFFFD\uFFFD\uFFFD")"},
                                                       {"\xF4\x90\x80\x80", "\\uFFFD"}};
  for (const auto& [text, shown] : texts) {
    for (const char* key : {"name", "policies.sync", "policies.rules"}) {
      Scenario scenario;
      const std::string before = ToToml(scenario);
      const Status set = SetKey(scenario, key, Plain(text));
      EXPECT_EQ(set.code(), StatusCode::kInvalidArgument) << key << " " << shown;
      EXPECT_THAT(set.message(), HasSubstr(key));
      EXPECT_THAT(set.message(), HasSubstr(shown));
      EXPECT_THAT(set.message(), HasSubstr("UTF-8 without control characters"));
      EXPECT_EQ(ToToml(scenario), before);
    }
  }
}

TEST(KeysTest, NumbersMustFitTogether) {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.servers = 2;
  EXPECT_TRUE(CheckWhole(scenario).ok());
  scenario.compute.factors = {{4, 2}};
  EXPECT_THAT(CheckWhole(scenario).message(), HasSubstr("rank 4"));
  scenario.compute.factors.clear();
  scenario.server.factors = {{2, 2}};
  EXPECT_THAT(CheckWhole(scenario).message(), HasSubstr("server 2"));
}

TEST(KeysTest, OneCardHasOneRate) {
  Scenario scenario;
  scenario.together = true;
  EXPECT_TRUE(CheckWhole(scenario).ok());
  ASSERT_TRUE(SetKey(scenario, "links.server_gbit", Plain("10")).ok());
  EXPECT_THAT(CheckWhole(scenario).message(),
              HasSubstr("got true with links.worker_gbit 1 and links.server_gbit 10"));
}

TEST(KeysTest, LinksAreSaidInGigabits) {
  Scenario scenario;
  ASSERT_TRUE(SetKey(scenario, "links.worker_gbit", Plain("10")).ok());
  EXPECT_DOUBLE_EQ(scenario.links.worker_bytes_per_second, 1.25e9);
}

}  // namespace
}  // namespace leeway::scenario
