// Writes the seeds of tests/fuzz/corpus: a few inputs per target that reach deep, for a fuzzer to vary.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.h"
#include "checkpoint/testing/sample_checkpoint.h"
#include "node/control_frame.h"
#include "node/scheduler/log_file.h"
#include "transport/local/shared_notes.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace leeway::wire {
namespace {

using Bytes = std::vector<std::byte>;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path root) : root_(std::move(root)) {}

  void Write(const std::string& target, const std::string& name, std::span<const std::byte> bytes) {
    std::filesystem::create_directories(root_ / target);
    std::ofstream file(root_ / target / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) failed_ = true;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::filesystem::path root_;
  bool failed_ = false;
};

template <typename Message>
void WriteMessage(Corpus& corpus, std::uint8_t pick, const std::string& name, const Message& message,
                  std::uint64_t payload_bytes = 0) {
  Bytes input;
  ByteWriter writer(input);
  writer.Write(pick);
  writer.Write(payload_bytes);
  Encode(message, input);
  corpus.Write("messages", name, input);
}

PushEntry PushOf(BlockId block, Term term) {
  PushEntry entry{block, term, Seq(4), Version(3)};
  entry.SetWhole(64);
  return entry;
}

AnswerEntry AnswerOf(BlockId block, Term term, std::uint32_t bytes) {
  AnswerEntry entry{block, term, Ask(2), Iteration(3), Version(3)};
  entry.SetWhole(bytes);
  entry.held_us = 250;
  return entry;
}

// Under relay; without bytes nobody gave a gradient.
AnswerEntry MeanOf(BlockId block, Term term, std::uint32_t bytes) {
  AnswerEntry entry = AnswerOf(block, term, bytes);
  entry.mean = Iteration(3);
  if (bytes == 0) entry.content = AnswerEntry::Content::kNoGradient;
  return entry;
}

void WriteMessages(Corpus& corpus) {
  const WorkerId worker(1);
  const Incarnation incarnation(1);
  const BlockId block(4);
  const Term term(1);
  WriteMessage(corpus, 0, "init", Init{worker, incarnation, {{block, term, 64}, {BlockId(5), term, 16}}}, 80);
  WriteMessage(corpus, 1, "push", Push{worker, incarnation, Iteration(3), 32, 3, {}, {PushOf(block, term)}},
               64);
  WriteMessage(corpus, 1, "push_other_payload",
               Push{worker, incarnation, Iteration(3), 32, 3, {}, {PushOf(block, term)}}, 63);
  WriteMessage(corpus, 2, "absent",
               Absent{worker,
                      incarnation,
                      Iteration(3),
                      {{block, term, Seq(4), 0}, {BlockId(5), term, Seq(1), AbsentEntry::kIdle}}});
  WriteMessage(corpus, 3, "verdicts",
               Verdicts{worker,
                        incarnation,
                        {{block, term, Seq(4), Verdict::kSummed, Iteration(3)},
                         {BlockId(5), term, Seq(1), Verdict::kGap, Iteration(3)}}});
  WriteMessage(
      corpus, 4, "pull",
      Pull{worker, incarnation, Epoch(2), 0, {{block, term, Iteration(-1), Version(0), 1.0F, Ask(1), 3}}});
  WriteMessage(corpus, 5, "answers",
               Answers{worker, incarnation, {AnswerOf(block, term, 64), AnswerOf(BlockId(5), term, 0)}}, 64);
  WriteMessage(corpus, 5, "means",
               Answers{worker, incarnation, {MeanOf(block, term, 64), MeanOf(BlockId(5), term, 0)}}, 64);
  WriteMessage(corpus, 6, "assign",
               Assign{worker, incarnation, {{block, term, Seq(5), Version(3), 7, 64, 2}}}, 64);
  WriteMessage(corpus, 7, "read",
               Read{worker, incarnation, 9, ReadWhat::kState, {{block, term, Version(3)}}});
  WriteMessage(corpus, 8, "arrays", Arrays{worker, incarnation, 9, {{block, term, Version(3), 7, 64, 1, 1}}},
               64);
  WriteMessage(
      corpus, 9, "resume",
      Resume{worker, incarnation, {{block, Term(2), Iteration(3)}, {BlockId(5), term, Iteration(3)}}});
  WriteMessage(corpus, 10, "resumed", Resumed{worker, incarnation, {{block, Term(2), Seq(4), Iteration(3)}}});
  WriteMessage(corpus, 4, "no_entries", Pull{worker, incarnation, Epoch(2), Pull::kObserver, {}});
}

void AppendFrame(Bytes& stream, std::uint8_t kind, std::uint32_t body_bytes, std::uint64_t payload_bytes,
                 std::size_t sent) {
  const auto header = EncodeHeader({.kind = kind, .body_bytes = body_bytes, .payload_bytes = payload_bytes});
  stream.insert(stream.end(), header.begin(), header.end());
  for (std::size_t i = 0; i < sent; ++i) stream.push_back(static_cast<std::byte>(i * 7));
}

void WriteNotes(Corpus& corpus) {
  const auto write = [&](const char* name, std::uint8_t what, const Bytes& body) {
    Bytes all{std::byte{what}};
    all.insert(all.end(), body.begin(), body.end());
    corpus.Write("shared_notes", name, all);
  };
  write("region", 0, Encode(RegionNote{3, 1 << 28}));
  write("greeting", 1, Encode(GreetingNote{.cell_region = 2, .cell_offset = 64, .session = 77}));
  Bytes trailer(5, std::byte{9});
  write("pipe", 2, Encode(PipeNote{1 << 16}));
  AppendTrailer(std::vector<SharedPiece>{{0, 64, 4096}, {1, 63, 8}}, trailer);
  write("trailer", 127, trailer);
  write("trailer_of_other_bytes", 131, trailer);
  write("no_trailer", 127, Bytes(3));
}

void WriteFrames(Corpus& corpus) {
  const auto begin = [](std::uint8_t staging, std::uint8_t chunks) {
    return Bytes{std::byte{staging}, std::byte{chunks}};
  };
  Bytes small = begin(2, 0);
  AppendFrame(small, 4, 0, 0, 0);
  AppendFrame(small, 1, 20, 0, 20);
  AppendFrame(small, 33, 9, 30, 39);
  AppendFrame(small, 37, 0, 5, 5);
  corpus.Write("frames", "small_byte_by_byte", small);
  small[1] = std::byte{10};
  corpus.Write("frames", "small_at_once", small);

  Bytes large = begin(1, 7);
  AppendFrame(large, 33, 90, 3000, 3090);
  AppendFrame(large, 8, 300, 0, 300);
  AppendFrame(large, 33, 3, 64, 67);
  corpus.Write("frames", "larger_than_staging", large);

  Bytes cut = begin(6, 5);
  AppendFrame(cut, 33, 10, 200, 110);
  corpus.Write("frames", "cut_in_payload", cut);

  Bytes over = begin(6, 5);
  AppendFrame(over, 4, 0, 0, 0);
  AppendFrame(over, 33, 10, std::uint64_t{1} << 63, 10);
  corpus.Write("frames", "payload_over_limit", over);
}

void WriteSpecs(Corpus& corpus) {
  const std::pair<const char*, std::string_view> seeds[] = {
      {"plain", "bsp"},
      {"arguments", "pssp:3,alpha=0.5,release=soft"},
      {"nested", "ef(topk:0.01)+none"},
      {"quoted", R"(file:path="a b\"c\\",x="")"},
      {"deep", "a(b(c(d(e(f+g:1)))))"},
      {"malformed", "ssp:s==\"3"},
  };
  for (const auto& [name, text] : seeds) corpus.Write("spec", name, std::as_bytes(std::span(text)));
}

void WriteRecord(Corpus& corpus, const std::string& name, std::uint64_t elements,
                 const sample::StateOptions& options) {
  sample::Draw draw(1);
  const EncodedRecord record =
      EncodeRecord({{BlockId(3), TableId(1), 40, elements, Term(2)}, DrawState(draw, options)});
  Bytes input{std::byte{1}};
  const Bytes bytes = sample::Joined(record.pieces);
  input.insert(input.end(), bytes.begin(), bytes.end());
  corpus.Write("records", name, input);
}

void WriteCheckpoints(Corpus& corpus) {
  WriteRecord(corpus, "without_values", 3,
              {.elements = 3, .slots = -1, .lives = 0, .sums = 0, .memory_bytes = 0});
  WriteRecord(corpus, "adam", 3, {.elements = 3, .slots = 2, .lives = 2, .sums = 0});
  WriteRecord(corpus, "sums", 2, {.elements = 2, .slots = 0, .lives = 3, .sums = 2, .ordered = true});
  WriteRecord(corpus, "no_elements", 0, {.elements = 0, .slots = 1, .lives = 1, .sums = 1});
  const sample::Checkpoint checkpoint =
      sample::DrawCheckpoint(1, {.tables = {{4, 2}, {3}}, .block_elements = 4, .shards = 2, .ranks = 1});
  for (const auto& [name, bytes] : checkpoint.files) {
    corpus.Write("checkpoint-00000012", name, bytes);  // whole, for the tests of readers in other languages
    if (name == kManifestName) continue;
    Bytes input{name.ends_with(".lwc") ? std::byte{0} : std::byte{2}};
    input.insert(input.end(), bytes.begin(), bytes.end());
    corpus.Write("records", name, input);
    if (name.ends_with(".state")) {
      input[0] = std::byte{3};
      corpus.Write("records", name + ".mended", input);
    }
    input.resize(input.size() - 30);
    corpus.Write("records", name + ".cut", input);
  }
  const Bytes& manifest = checkpoint.files.at("manifest.json");
  const std::string_view text = sample::TextOf(manifest);
  corpus.Write("manifest", "whole", manifest);
  corpus.Write("manifest", "members", std::span(manifest).first(text.rfind("  \"checksum\"")));
  corpus.Write("manifest", "cut", std::span(manifest).first(manifest.size() / 2));
  const std::string_view empty = "{\n";
  corpus.Write("manifest", "empty", std::as_bytes(std::span(empty)));
}

pb::LogRecord WholeRecord() {
  pb::LogRecord record;
  record.set_whole(true);
  record.mutable_state()->set_epoch(4);
  record.mutable_membership()->set_roster_epoch(4);
  pb::LoggedWorker& worker = *record.add_workers();
  worker.set_rank(2);
  worker.set_incarnation(2);
  worker.set_life(99);
  worker.set_state(1);
  worker.set_entered(4);
  worker.set_joining(true);
  (*worker.mutable_own_firsts())[0] = 7;
  pb::LoggedShard& shard = *record.add_shards();
  shard.set_shard(1);
  shard.set_taken(true);
  shard.set_address("127.0.0.1:7001");
  pb::Table& table = *record.add_tables()->mutable_table();
  table.set_name("w");
  table.add_shape(6);
  table.set_dtype(1);
  table.set_sync("bsp");
  table.set_optimizer("sgd");
  for (std::uint32_t i = 0; i < 2; ++i) {
    pb::Block& block = *table.add_blocks();
    block.set_block(i);
    block.set_offset(3 * i);
    block.set_elements(3);
    block.set_shard(i);
    block.set_term(1);
    block.set_since(1);
  }
  table.mutable_blocks(1)->mutable_restore()->set_file("/c/x");
  pb::LoggedBarrier& barrier = *record.add_barriers();
  barrier.set_name("epoch");
  barrier.set_over(3);
  (*barrier.mutable_ahead())[2] = -1;
  pb::LoggedPool& pool = *record.add_pools();
  pool.set_name("p");
  pool.set_batches(9);
  pool.set_next(3);
  pool.add_returned(1);
  pb::LoggedLease& leased = *pool.add_leases();
  leased.set_batch(2);
  leased.set_incarnation(1);
  leased.set_iteration(7);
  (*pool.mutable_answers())[0].add_batches(2);
  record.mutable_checkpoints()->set_next(3);
  return record;
}

void WriteSchedulerLogs(Corpus& corpus) {
  const auto with = [](std::uint8_t pick, const Bytes& bytes) {
    Bytes input{std::byte{pick}};
    input.insert(input.end(), bytes.begin(), bytes.end());
    return input;
  };
  const pb::LogRecord whole = WholeRecord();
  pb::LogRecord leases;
  pb::PoolChange& lease = *leases.add_pool_changes();
  lease.set_worker(1);
  lease.mutable_request()->set_pool("p");
  lease.mutable_request()->set_batches(9);
  lease.mutable_request()->set_iteration(8);
  lease.mutable_answer()->add_batches(3);
  leases.add_pool_changes()->set_gone(true);
  Bytes file = EncodeLogHeader("fuzz");
  for (const pb::LogRecord& record : {whole, leases, leases}) {
    const Bytes bytes = EncodeLogRecord(record, file.size());
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  corpus.Write("scheduler_log", "file", with(0, file));
  corpus.Write("scheduler_log", "torn", with(0, Bytes(file.begin(), file.end() - 5)));
  file[file.size() - 60] ^= std::byte{1};
  corpus.Write("scheduler_log", "damaged", with(0, file));
  corpus.Write("scheduler_log", "whole", with(1, ControlBody(whole)));
  corpus.Write("scheduler_log", "leases", with(2, ControlBody(leases)));
}

void WriteGreetings(Corpus& corpus) {
  const auto add = [](Bytes& input, Kind kind, const Bytes& body) {
    input.push_back(static_cast<std::byte>(kind));
    input.push_back(static_cast<std::byte>(body.size() & 0xFFU));
    input.push_back(static_cast<std::byte>(body.size() >> 8U));
    input.insert(input.end(), body.begin(), body.end());
  };
  pb::Hello hello;
  hello.set_version_min(kVersionMin);
  hello.set_version_max(kVersionMax);
  hello.set_job("j");
  hello.set_role(pb::ROLE_WORKER);
  hello.set_nonce(std::string(16, 'n'));
  pb::Proof proof;
  proof.set_proof(std::string(32, 'p'));
  Bytes said;
  add(said, Kind::kHello, ControlBody(hello));
  corpus.Write("greeting", "hello", said);
  add(said, Kind::kProof, ControlBody(proof));
  corpus.Write("greeting", "wrong_proof", said);
  hello.clear_nonce();
  said.clear();
  add(said, Kind::kHello, ControlBody(hello));
  corpus.Write("greeting", "no_nonce", said);
  pb::Challenge challenge;
  challenge.set_nonce(std::string(16, 'l'));
  challenge.set_proof(std::string(32, 'p'));
  pb::Welcome welcome;
  welcome.set_version(kVersionMax);
  said.clear();
  add(said, Kind::kChallenge, ControlBody(challenge));
  add(said, Kind::kWelcome, ControlBody(welcome));
  corpus.Write("greeting", "wrong_challenge", said);
  said.clear();
  add(said, Kind::kWelcome, ControlBody(welcome));
  corpus.Write("greeting", "welcome", said);
  welcome.set_error("no");
  welcome.set_error_code(3);
  said.clear();
  add(said, Kind::kWelcome, ControlBody(welcome));
  corpus.Write("greeting", "refusal", said);
}

}  // namespace
}  // namespace leeway::wire

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "got %d arguments, wanted one: the folder to write to\n", argc - 1);
    return 2;
  }
  leeway::wire::Corpus corpus(argv[1]);
  leeway::wire::WriteMessages(corpus);
  leeway::wire::WriteFrames(corpus);
  leeway::wire::WriteNotes(corpus);
  leeway::wire::WriteSpecs(corpus);
  leeway::wire::WriteCheckpoints(corpus);
  leeway::wire::WriteSchedulerLogs(corpus);
  leeway::wire::WriteGreetings(corpus);
  if (corpus.failed()) std::fprintf(stderr, "could not write below %s\n", argv[1]);
  return corpus.failed() ? 1 : 0;
}
