// WorkerRig: one worker node under test, with a job of two shards played by hand.
//
// Table "w" has four elements in two blocks: block 0 on shard 0, block 1 on shard 1; table "u" one block of
// two elements, block 2, on shard 0; the own-clock table "c" one block of two, block 3, on shard 1.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "exchange/exchanges.h"
#include "node/testing/fake_env.h"
#include "node/testing/handshake.h"
#include "node/worker/worker_node.h"
#include "sync/sync_policy.h"

namespace leeway::testing {

class WorkerRig : public ::testing::Test, private WorkerNodeEvents {
 protected:
  static constexpr std::uint32_t kRank = 1;

  explicit WorkerRig(std::uint64_t push_bytes_in_flight_max = 256ULL << 20)
      : WorkerRig(WithCredit(push_bytes_in_flight_max)) {}
  explicit WorkerRig(const WorkerOptions& options) {
    job.set_job("leeway");
    job.set_workers(2);
    job.set_servers(2);
    job.set_shards(1);
    env.transport.on_sent = [this](const SentFrame& frame) {
      if (frame.kind != wire::Kind::kPull) return;
      for (const auto& entry : DecodeAs<wire::Pull>(frame).entries)
        asked_[{entry.block, entry.progress}] = entry.ask;
    };
    node.emplace(
        options, env.env, WorkerPolicies{.sync = models, .exchanges = exchanges},
        []() -> Result<std::string> { return std::string("10.0.0.1:7000"); },
        static_cast<WorkerNodeEvents&>(*this));
  }

  [[nodiscard]] static WorkerOptions WithCredit(std::uint64_t push_bytes_in_flight_max) {
    WorkerOptions options;
    options.push_bytes_in_flight_max = push_bytes_in_flight_max;
    return options;
  }

  // Joining, step by step.
  void BeginJoin() {
    node->Join(Into(joined));
    scheduler = env.transport.CompleteConnect();
    WelcomeAtScheduler();
  }
  void WelcomeAtScheduler() {
    wire::pb::Welcome welcome;
    welcome.set_version(wire::kVersionMax);
    welcome.set_id(kRank);
    welcome.set_incarnation(1);
    *welcome.mutable_job() = job;
    EXPECT_TRUE(Welcome(env.transport, scheduler, welcome).ok());
  }
  struct RosterLine {
    std::uint32_t worker;
    bool gone = false;
    bool dead = false;
  };
  void SendRoster(std::uint64_t epoch, const std::vector<RosterLine>& members) {
    wire::pb::Roster roster;
    roster.set_epoch(epoch);
    roster.set_gathered(true);
    for (const RosterLine& line : members) {
      wire::pb::Member* member = roster.add_members();
      member->set_worker(line.worker);
      member->set_incarnation(1);
      member->set_gone(line.gone);
      member->set_dead(line.dead);
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      wire::pb::Shard* line = roster.add_shards();
      line->set_shard(i);
      line->set_server(i);
      line->set_address("10.0.1." + std::to_string(i) + ":900");
    }
    Control(scheduler, wire::Kind::kRoster, roster);
  }
  void Left(std::uint64_t epoch) {
    wire::pb::Left left;
    left.set_epoch(epoch);
    Control(scheduler, wire::Kind::kLeft, left);
  }
  void WelcomeAtShard(std::size_t index) {
    wire::pb::Welcome welcome;
    welcome.set_version(wire::kVersionMax);
    EXPECT_TRUE(Welcome(env.transport, shard[index], welcome).ok());
  }
  void JoinJob() {
    BeginJoin();
    SendRoster(1, {{0}, {kRank}});
    ASSERT_EQ(env.transport.connects.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
      shard[i] = env.transport.connects[1 + i].first;
      env.transport.Complete(shard[i]);
      WelcomeAtShard(i);
    }
    ASSERT_TRUE(joined.has_value());
    ASSERT_TRUE(joined->ok()) << joined->ToString();
    env.transport.sent.clear();
  }
  // The connection to a shard is lost and comes back.
  void Reconnect(std::size_t index) {
    (void)env.transport.Lose(shard[index]);
    env.transport.sent.clear();
    env.Advance(std::chrono::milliseconds(50));
    shard[index] = env.transport.CompleteConnect();
    WelcomeAtShard(index);
  }

  void CreateTables() {
    w = *node->CreateTable({.name = "w", .shape = {4}}, w_pair);
    u = *node->CreateTable({.name = "u", .shape = {2}, .group = u_group}, u_pair);
    c = *node->CreateTable({.name = "c", .shape = {2}, .clock = TableClock::kOwn}, c_pair);
  }
  [[nodiscard]] wire::pb::TableMap Map(std::uint64_t request) const {
    wire::pb::TableMap map;
    map.set_request(request);
    const auto add = [&map, this](const char* name,
                                  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks) {
      wire::pb::Table* table = map.add_tables();
      table->set_name(name);
      table->set_sync(sync);
      table->set_apply(apply);
      std::uint64_t offset = 0;
      for (const auto& [id, on] : blocks) {
        wire::pb::Block* block = table->add_blocks();
        block->set_block(id);
        block->set_shard(on);
        block->set_term(1);
        block->set_since(1);
        block->set_offset(offset);
        block->set_elements(2);
        offset += 2;
      }
    };
    add("w", {{0, 0}, {1, 1}});
    add("u", {{2, 0}});
    add("c", {{3, 1}});
    return map;
  }
  // Joined, tables placed, and the initial values (all 1) used.
  void StartTables() {
    JoinJob();
    CreateTables();
    node->Start(Into(started));
    Control(scheduler, wire::Kind::kTableMap, Map(1));
    ASSERT_TRUE(started.has_value() && started->ok());
    for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
      Answer(static_cast<std::size_t>(on), block, -1, 1, {1, 1});
    }
    ASSERT_TRUE(w_pair.Take() && u_pair.Take());
    env.transport.sent.clear();
  }

  // Frames of shards.
  void Verdict(std::size_t on, std::uint32_t block, std::uint64_t seq, wire::Verdict verdict,
               std::uint32_t term = 1, std::int64_t v_train = 0) {
    wire::Verdicts verdicts;
    verdicts.worker = WorkerId(kRank);
    verdicts.incarnation = Incarnation(1);
    verdicts.entries.push_back({BlockId(block), Term(term), Seq(seq), verdict, Iteration(v_train)});
    Deliver(on, wire::Kind::kVerdicts, verdicts);
  }
  void Resumed(std::size_t on, std::uint32_t block, std::uint64_t last, std::uint32_t term,
               std::int64_t v_train = 0) {
    wire::Resumed resumed;
    resumed.worker = WorkerId(kRank);
    resumed.incarnation = Incarnation(1);
    resumed.entries.push_back({BlockId(block), Term(term), Seq(last), Iteration(v_train)});
    Deliver(on, wire::Kind::kResumed, resumed);
  }
  // The answer to the worker's pull for this progress, or to one that it has not made.
  [[nodiscard]] wire::Answers AnswerOf(std::uint32_t block, std::int64_t progress, std::uint64_t version,
                                       std::size_t elements) const {
    wire::Answers answers;
    answers.worker = WorkerId(kRank);
    answers.incarnation = Incarnation(1);
    wire::AnswerEntry entry;
    entry.block = BlockId(block);
    entry.term = Term(1);
    const auto asked = asked_.find({BlockId(block), Iteration(progress)});
    entry.ask = asked == asked_.end() ? Ask(999) : asked->second;
    entry.v_train = Iteration(progress + 1);
    entry.version = Version(version);
    entry.SetWhole(static_cast<std::uint32_t>(elements * sizeof(float)));
    answers.entries.push_back(entry);
    return answers;
  }
  // No values: unchanged.
  void Answer(std::size_t on, std::uint32_t block, std::int64_t progress, std::uint64_t version,
              const std::vector<float>& values = {}) {
    Deliver(on, wire::Kind::kAnswers, AnswerOf(block, progress, version, values.size()), values);
  }
  // Of a block that is in another iteration than the one that was asked for.
  void AnswerAt(std::size_t on, std::uint32_t block, std::int64_t progress, std::int64_t v_train,
                std::uint64_t version, const std::vector<float>& values = {}) {
    wire::Answers answers = AnswerOf(block, progress, version, values.size());
    answers.entries[0].v_train = Iteration(v_train);
    Deliver(on, wire::Kind::kAnswers, answers, values);
  }

  // The frames that the worker sent: "Push 0:1,2:1" is a push of block 0 seq 1 and block 2 seq 1; pulls name
  // block@progress, and an idle block of an absent frame ends with "i".
  [[nodiscard]] std::vector<std::string> Sent(std::size_t to) {
    std::vector<std::string> lines;
    for (const SentFrame& frame : env.transport.TakeSent(shard[to])) lines.push_back(Describe(frame));
    return lines;
  }
  [[nodiscard]] static std::string Describe(const SentFrame& frame) {
    std::string line(wire::KindName(frame.kind));
    const auto add = [&line](BlockId block, const char* mark, auto number) {
      line += (line.find(' ') == std::string::npos ? " " : ",") + std::to_string(block.value()) + mark +
              std::to_string(number);
    };
    if (frame.kind == wire::Kind::kPush) {
      for (const auto& entry : DecodeAs<wire::Push>(frame).entries) add(entry.block, ":", entry.seq.value());
    } else if (frame.kind == wire::Kind::kAbsent) {
      for (const auto& entry : DecodeAs<wire::Absent>(frame).entries) {
        add(entry.block, ":", entry.seq.value());
        if (entry.flags == wire::AbsentEntry::kIdle) line += "i";
      }
    } else if (frame.kind == wire::Kind::kPull) {
      for (const auto& entry : DecodeAs<wire::Pull>(frame).entries)
        add(entry.block, "@", entry.progress.value());
    } else if (frame.kind == wire::Kind::kInit) {
      for (const auto& entry : DecodeAs<wire::Init>(frame).entries)
        add(entry.block, "=", entry.payload_bytes);
    }
    return line;
  }

  template <typename Message>
  void Control(ConnectionId id, wire::Kind kind, const Message& message) {
    const Status delivered = env.transport.DeliverControl(id, kind, message);
    EXPECT_TRUE(delivered.ok()) << delivered.ToString();
  }
  template <typename Message>
  void Deliver(std::size_t on, wire::Kind kind, const Message& message, std::span<const float> payload = {}) {
    const Status delivered = env.transport.DeliverData(shard[on], kind, message, payload);
    EXPECT_TRUE(delivered.ok()) << delivered.ToString();
  }
  [[nodiscard]] static Done Into(std::optional<Status>& outcome) {
    return [&outcome](const Status& status) {
      EXPECT_FALSE(outcome.has_value()) << "called back twice";
      outcome = status;
    };
  }
  [[nodiscard]] static LentGradient Lend(std::span<const float> values) { return {values, nullptr, {}, 1}; }
  [[nodiscard]] static std::vector<float> Copy(const ParameterPair& pair) {
    return {pair.Front().begin(), pair.Front().end()};
  }

  ParameterPair w_pair{4, nullptr, nullptr};
  ParameterPair u_pair{2, nullptr, nullptr};
  ParameterPair c_pair{2, nullptr, nullptr};
  Registry<SyncModel> models = BuiltinSyncModels();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  wire::pb::Job job;        // as the scheduler will tell it
  std::string sync, apply;  // of all tables
  std::uint32_t u_group = 0;
  FakeEnv env;
  std::optional<WorkerNode> node;
  ConnectionId scheduler;
  ConnectionId shard[2];
  TableId w, u, c;
  std::vector<float> gradient{0.1F, 0.2F, 0.3F, 0.4F};
  std::optional<Status> joined, started, failed;
  std::vector<std::int64_t> told_iterations;
  bool gated = false;
  bool several_threads = false;

 private:
  std::map<std::pair<BlockId, Iteration>, Ask> asked_;

  void OnFailed(const Status& why) override {
    EXPECT_FALSE(failed.has_value()) << "failed twice";
    failed = why;
  }
  void OnIteration(Iteration now) override { told_iterations.push_back(now.value()); }
  void OnGated(bool now) override { gated = now; }
  [[nodiscard]] bool UserMayCompute() const override { return several_threads; }
};

}  // namespace leeway::testing
