// Any bytes as the scheduler's log, or as the body of one of its records: no crash. An accepted log encodes
// to a log that reads the same, and the modules of a scheduler take each record or name its fault.
//
// Input: a byte that picks (0: a file as it is; 1: the body of a whole record; else that of one that follows
// a whole one), then the bytes.
#include <span>
#include <vector>

#include "base/check.h"
#include "exchange/exchanges.h"
#include "fuzz_target.h"
#include "node/control_frame.h"
#include "node/scheduler/barriers.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/log_file.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/table_registry.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using Bytes = std::vector<std::byte>;

void Append(Bytes& file, const Bytes& more) { file.insert(file.end(), more.begin(), more.end()); }

// Does with the log what a scheduler does after reading it; then all of it once more, as one record.
Status Replay(const std::vector<wire::pb::LogRecord>& records) {
  static const Registry<SyncModel> sync = BuiltinSyncModels();
  static const Registry<Optimizer> optimizers = BuiltinOptimizers();
  static const Registry<Placement> placements = BuiltinPlacements();
  static const Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  JobOptions job;
  job.workers = 3;
  job.servers = 2;
  Membership members(job);
  TableRegistry tables(job, {sync, optimizers, placements, exchanges});
  LW_CHECK(tables.Check().ok());
  Barriers barriers;
  BatchPools pools;
  Checkpoints checkpoints({}, 2);
  for (const wire::pb::LogRecord& record : records) {
    LW_RETURN_IF_ERROR(members.Apply(record, TimePoint()));
    LW_RETURN_IF_ERROR(tables.Apply(record));
    LW_RETURN_IF_ERROR(barriers.Apply(record));
    LW_RETURN_IF_ERROR(pools.Apply(record));
    checkpoints.Apply(record);
  }
  wire::pb::LogRecord whole;
  members.AddAll(whole);
  tables.AddAll(whole);
  barriers.AddAll(whole);
  pools.AddAll(whole);
  checkpoints.AddAll(whole);
  TableRegistry again(job, {sync, optimizers, placements, exchanges});
  LW_CHECK(again.Check().ok());
  LW_RETURN_IF_ERROR(Membership(job).Apply(whole, TimePoint()));
  const Status tables_again = again.Apply(whole);
  LW_CHECK(tables_again.ok(), "{}", tables_again.ToString());
  return Status::Ok();
}

void Try(std::span<const std::byte> file) {
  const Result<DecodedLog> log = DecodeLog(file);
  if (!log.ok()) {
    LW_CHECK(!log.status().message().empty());
    return;
  }
  LW_CHECK(log->bytes <= file.size() && log->torn.empty() == (log->bytes == file.size()));
  Bytes written = EncodeLogHeader(log->job);
  for (const wire::pb::LogRecord& record : log->records) {
    Append(written, EncodeLogRecord(record, written.size()));
  }
  const Result<DecodedLog> again = DecodeLog(written);
  LW_CHECK(again.ok(), "{}", again.status().ToString());
  LW_CHECK(again->records.size() == log->records.size() && again->torn.empty());
  for (std::size_t i = 0; i < log->records.size(); ++i) {
    LW_CHECK(ControlBody(again->records[i]) == ControlBody(log->records[i]));
  }
  const Status replayed = Replay(log->records);
  LW_CHECK(replayed.ok() || !replayed.message().empty());
}

void TryBody(std::span<const std::byte> body, bool whole) {
  wire::pb::LogRecord record;
  if (!record.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
  Bytes file = EncodeLogHeader("fuzz");
  if (!whole) {
    wire::pb::LogRecord first;
    first.set_whole(true);
    Append(file, EncodeLogRecord(first, 0));
  }
  record.set_whole(whole);
  Append(file, EncodeLogRecord(record, file.size()));
  Try(file);
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] == 0) {
    leeway::Try(bytes);
  } else {
    leeway::TryBody(bytes, data[0] == 1);
  }
  return 0;
}
