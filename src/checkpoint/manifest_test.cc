#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/testing/sample_checkpoint.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Sample() { return WriteManifest(sample::DrawCheckpoint(1).manifest); }

// The sample with one text in it replaced, and a right checksum.
std::string With(const std::string& from, const std::string& to) {
  std::string text = Sample();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return SealManifest(text.substr(0, text.rfind("  \"checksum\"")));
}

std::string Problem(const std::string& text) { return ReadManifest(text).status().message(); }

TEST(ManifestTest, WhatIsWrittenIsRead) {
  const Manifest manifest = sample::DrawCheckpoint(1).manifest;
  const Result<Manifest> again = ReadManifest(WriteManifest(manifest));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->tables, manifest.tables);
  EXPECT_EQ(again->files, manifest.files);
  EXPECT_EQ(again->ranks, manifest.ranks);
  EXPECT_EQ(again->incarnations, manifest.incarnations);
  EXPECT_EQ(again->begins, manifest.begins);
  EXPECT_EQ(again->pools, manifest.pools);
  EXPECT_EQ(again->job.block_bytes, manifest.job.block_bytes);
  EXPECT_EQ(WriteManifest(*again), WriteManifest(manifest));
}

TEST(ManifestTest, AJobWithoutTablesHasOneToo) {
  EXPECT_TRUE(ReadManifest(WriteManifest({})).ok()) << Problem(WriteManifest({}));
}

TEST(ManifestTest, OddNamesAndLargeNumbersComeBack) {
  Manifest manifest = sample::DrawCheckpoint(1).manifest;
  manifest.job.job = "a \"job\"\n\u00e9\\";
  manifest.job.seed = ~0ULL;
  manifest.checkpoint = ~0ULL;
  manifest.tables[0].spec.clock = TableClock::kOwn;
  manifest.tables[0].spec.nonfinite = NonFinite::kAccept;
  const Result<Manifest> again = ReadManifest(WriteManifest(manifest));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->job.job, manifest.job.job);
  EXPECT_EQ(WriteManifest(*again), WriteManifest(manifest));
}

TEST(ManifestTest, KeysMustBeAllThereAndNoOthers) {
  EXPECT_EQ(Problem(With("\"format\": 3", "\"format\": 4")),
            "format: got 4, wanted 3: another version of leeway wrote it");
  EXPECT_EQ(Problem(With("\"format\": 3", "\"format\": 2")),
            "format: got 2, wanted 3: another version of leeway wrote it");
  EXPECT_EQ(Problem(With("  \"rules\": [", "  \"rule\": [")), "rules: is missing");
  EXPECT_EQ(Problem(With("  \"epoch\": 4,\n", "")), "epoch: is missing");
  EXPECT_EQ(Problem(With("  \"epoch\": 4,\n", "  \"epoch\": 4, \"era\": 1,\n")), "\"era\": is not known");
  EXPECT_EQ(Problem(With("\"term\":3,", "")), "tables[0].blocks[0].term: is missing");
  EXPECT_EQ(Problem(With("\"term\":3,", "\"term\":3,\"turn\":3,")),
            "tables[0].blocks[0].\"turn\": is not known");
  EXPECT_EQ(Problem(With("\"servers\":3", "\"server\":3")), "job.servers: is missing");
}

TEST(ManifestTest, ValuesAreOfTheirKindAndRange) {
  EXPECT_THAT(Problem(With("\"term\":3", "\"term\":-3")),
              StartsWith("tables[0].blocks[0].term: got -3, wanted"));
  EXPECT_THAT(Problem(With("\"term\":3", "\"term\":4294967296")), HasSubstr("to 4294967295"));
  EXPECT_THAT(Problem(With("\"term\":3", "\"term\":3.5")), HasSubstr("got 3.5"));
  EXPECT_THAT(Problem(With("\"consistent\": true", "\"consistent\": 1")),
              StartsWith("consistent: got 1, wanted true"));
  EXPECT_THAT(Problem(With("\"clock\":\"job\"", "\"clock\":\"jab\"")),
              StartsWith("tables[0].clock: got \"jab\""));
  EXPECT_THAT(Problem(With("\"shape\":[40,100]", "\"shape\":[40,-100]")), StartsWith("tables[0].shape[1]: "));
  EXPECT_THAT(Problem(With("\"shape\":[40,100]", "\"shape\":[4294967296,4294967296,4294967296]")),
              StartsWith("tables[0].shape[1]: "));
  EXPECT_THAT(Problem(With("\"incarnations\": [2,2]", "\"incarnations\": [2,\"a\"]")),
              StartsWith("incarnations[1]: "));
  EXPECT_THAT(Problem(With("\"job\": {", "\"job\": 3, \"jab\": {")),
              StartsWith("job: got 3, wanted an object"));
}

TEST(ManifestTest, EveryRankHasAnIterationToBeginWith) {
  EXPECT_THAT(Problem(With("\"begins\": [9,9]", "\"begins\": [9]")),
              StartsWith("begins: got 1 ranks, wanted 2"));
  EXPECT_THAT(Problem(With("\"begins\": [9,9]", "\"begins\": [9,-1]")), StartsWith("begins[1]: "));
}

TEST(ManifestTest, OpenBatchesOfAPoolWereLeased) {
  const std::string pool = "{\"name\":\"pool.0\",\"batches\":100,\"next\":40,\"open\":[3,17]}";
  const auto problem = [&pool](const std::string& from, const std::string& to) {
    std::string other = pool;
    other.replace(other.find(from), from.size(), to);
    return Problem(With(pool, other));
  };
  EXPECT_THAT(problem("[3,17]", "[3,40]"), StartsWith("pools[0].open[1]: wanted batches below 40"));
  EXPECT_THAT(problem("[3,17]", "[17,3]"), StartsWith("pools[0].open[1]: "));
  EXPECT_THAT(problem("[3,17]", "[3,3]"), StartsWith("pools[0].open[1]: "));
  EXPECT_THAT(problem("[3,17]", "[3,\"a\"]"), StartsWith("pools[0].open[1]: "));
  EXPECT_THAT(problem("\"next\":40", "\"next\":101"),
              StartsWith("pools[0].next: got 101, wanted at most 100"));
  EXPECT_THAT(problem("pool.0", "pool.2"), StartsWith("pools[1].name: got \"pool.1\" after \"pool.2\""));
}

TEST(ManifestTest, RulesAreTextsInTheirOrder) {
  Manifest manifest = sample::DrawCheckpoint(1).manifest;
  manifest.rules = {"sync=when:pull=\"gap < 2\",push=\"count >= workers\"", "tables=fc* sync=asp"};
  const Result<Manifest> again = ReadManifest(WriteManifest(manifest));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->rules, manifest.rules);
  EXPECT_THAT(Problem(With("\"rules\": []", "\"rules\": 3")), StartsWith("rules: got 3"));
  EXPECT_THAT(Problem(With("\"rules\": []", "\"rules\": [\"sync=asp\", 3]")), StartsWith("rules[1]: "));
  EXPECT_THAT(Problem(With("\"rules\": []", "\"rules\": [\"\"]")), StartsWith("rules[0]: "));
}

TEST(ManifestTest, BlocksCoverTheirTableOnce) {
  EXPECT_EQ(Problem(With("\"offset\":1000,", "\"offset\":999,")),
            "tables[0].blocks[1].offset: got 999, wanted 1000");
  EXPECT_EQ(Problem(With("\"offset\":1000,", "\"offset\":1001,")),
            "tables[0].blocks[1].offset: got 1001, wanted 1000");
  EXPECT_EQ(Problem(With("\"shape\":[40,100]", "\"shape\":[41,100]")),
            "tables[0].blocks: end at element 4000, wanted 4100");
  EXPECT_EQ(Problem(With("\"block\":1,", "\"block\":0,")), "tables[0].blocks[1].block: 0 is listed twice");
}

TEST(ManifestTest, PlacesAreWithinFilesThatAreThere) {
  EXPECT_EQ(Problem(With("\"file\":2,", "\"file\":3,")), "tables[0].blocks[2].file: got 3, wanted below 3");
  EXPECT_THAT(Problem(With("\"record_offset\":44,", "\"record_offset\":9000000000,")),
              StartsWith("tables[0].blocks[0].record_offset: got"));
  // Block 3 is the second one in file 0.
  Manifest manifest = sample::DrawCheckpoint(1).manifest;
  manifest.tables[0].blocks[3].record.offset -= 4;
  EXPECT_EQ(Problem(WriteManifest(manifest)), "record_offset: blocks 0 and 3 overlap in file 0");
  EXPECT_THAT(Problem(With("shard-001.lwc", "shard-000.lwc")),
              HasSubstr("files[1].name: \"shard-000.lwc\" is listed twice"));
  EXPECT_THAT(Problem(With("shard-001.lwc", "../shard-001.lwc")),
              HasSubstr("files[1].name: got \"../shard-001.lwc\""));
}

TEST(ManifestTest, RanksAreKnownAndInOrder) {
  EXPECT_THAT(Problem(With("{\"rank\":1,", "{\"rank\":0,")), StartsWith("ranks[1].rank: got 0 after 0"));
  EXPECT_THAT(Problem(With("{\"rank\":1,", "{\"rank\":2,")),
              StartsWith("ranks[1].rank: got 2, wanted below 2"));
  EXPECT_THAT(Problem(With("\"incarnation\":2", "\"incarnation\":3")),
              StartsWith("ranks[1].incarnation: got 3"));
}

TEST(ManifestTest, TextThatIsNoManifestIsRefused) {
  EXPECT_THAT(Problem(""), HasSubstr("got 0 bytes"));
  EXPECT_THAT(Problem(SealManifest("")), HasSubstr("no JSON"));
  EXPECT_THAT(Problem(SealManifest("{")), HasSubstr("format: is missing"));
}

}  // namespace
}  // namespace leeway
