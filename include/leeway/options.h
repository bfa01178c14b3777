// Options: one commented struct per role, with defaults in place. Every queue, retry and wait has its limit
// here. Filled by apps/ and python/ (the only readers of argv, environment and files, but for
// WorkerOptions::FromEnvironment); checked by the role that takes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway {

// Shared by all roles.
struct LinkOptions {
  std::chrono::milliseconds beat{1000};           // a ping this long after the last frame sent
  std::chrono::milliseconds silence_max{10'000};  // a peer silent for this long is cut off and reconnected to
  std::chrono::milliseconds hello_timeout{2'000};  // connect + hello + welcome
  std::chrono::milliseconds backoff_min{20};       // first pause before reconnecting; doubles, with jitter
  std::chrono::milliseconds backoff_max{1'000};
  std::chrono::milliseconds give_up_after{30'000};  // no welcome for this long: the peer is unreachable
  std::uint32_t body_bytes_max = 16U << 20;         // frames after the hello
  std::uint64_t payload_bytes_max = 64ULL << 20;
  // A peer that sends another frame while so many bytes of earlier answers are unread by it is cut off. A
  // shard allows every worker one answer per block beyond that.
  std::uint64_t unread_bytes_max = 64ULL << 20;
  // Several blocks share a frame up to here: large enough that headers cost nothing, small enough that the
  // first block of a large table is on its way early.
  std::uint64_t frame_payload_bytes = 1U << 20;
  // What carries frames: "auto" (shared memory between processes of one host that can share it, else TCP),
  // "local" (that or nothing), "uds" (the Unix socket alone, to compare), "tcp".
  std::string transport = "auto";
  // The job's secret: both ends of every connection prove that they know it before anything else is said.
  // Empty: a node that trusts whoever reaches it; a node with a secret and one without refuse each other.
  std::string secret;
};

// What a whole job shares; the scheduler has it and tells it to everyone in the welcome.
struct JobOptions {
  std::string job = "leeway";  // nodes of another job are refused
  std::uint32_t workers = 1;   // members that the job starts with
  std::uint32_t servers = 1;
  std::uint32_t shards = 1;  // per server
  std::string sync = "bsp";  // default of tables that name none
  std::string apply;         // empty: the sync model's own default
  // Which tables and servers have another model than `sync`, in order: the last one that fits counts. A rule
  // is
  // "[tables=GLOB] [server=N] sync=SPEC [apply=SPEC]"; src/sync/sync_rules.h reads it.
  std::vector<std::string> rules;
  std::string pull = "full";         // or partial:b,tau_ms
  std::string exchange = "every:1";  // or every:k, when_stale:s, significant:t
  // False: a barrier of all workers between the pushes and the pulls of an iteration, as PS-Lite has it. For
  // comparison only.
  bool overlap = true;
  std::string placement = "lpt";
  // The largest block, a multiple of 4. 0: by need, from the bytes of the model and the number of shards, so
  // that a small model spreads over all servers too (src/node/scheduler/block_bytes.h).
  std::uint32_t block_bytes = 0;
  std::uint64_t seed = 1;  // coins and everything else that is drawn
};

// What a job does when a worker has died.
enum class OnWorkerLoss : std::uint8_t {
  kShrink,  // goes on without it; one that comes later may take its place
  kWait,    // keeps its place in every count until one takes it, for at most gather_timeout
  kFail,    // ends
};

// What a job does when a server has died. (Going back to the last checkpoint as a whole is the launcher's:
// the scheduler ends then.)
enum class OnServerLoss : std::uint8_t {
  kPatch,  // another process takes its place, with the state of the last checkpoint; what was lost is
           // reported
  kFail,   // ends
};

// When a job writes checkpoints, and what it begins from. Every server and the scheduler see the same folder.
struct CheckpointOptions {
  std::string folder;                       // empty: none are written
  std::uint64_t every_iterations = 0;       // 0: not by iterations
  std::chrono::milliseconds every{0};       // 0: not by time
  std::chrono::milliseconds limit{60'000};  // one that is not complete by then is given up
  std::uint32_t keep = 2;                   // the newest so many stay
  // How long to wait for the folder's lock, which a process that has just died may have for a moment more.
  std::chrono::milliseconds lock_wait{5'000};
  std::string resume;  // a checkpoint, or a folder of them: its newest whole one; empty: begin anew
};

struct SchedulerOptions {
  JobOptions job;
  LinkOptions link;
  CheckpointOptions checkpoint;
  // "host:port"; or "local:<name>" for processes of this host alone, without a TCP port ("local:": any free
  // name).
  std::string listen = "127.0.0.1:0";
  bool bind_any = false;            // allow `listen` to be an address that other machines can reach
  std::uint32_t monitors_max = 64;  // connected at a time: `leeway ctl`, the launcher's bar
  std::chrono::milliseconds suspect_after{3'000};  // no beat for this long: reported
  std::chrono::milliseconds expel_after{10'000};   // no beat for this long: declared dead
  // A worker that beats and has made no call for this long, while others wait for it, is declared dead. 0: it
  // is waited for as long as it beats. A worker may name a limit of its own: WorkerOptions::wait_max.
  std::chrono::milliseconds wait_max{0};
  // Not all workers and servers there: the job begins with min_workers of them, or fails, naming who is
  // missing. A worker that died and is waited for: the job fails.
  std::chrono::milliseconds gather_timeout{60'000};
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
  // The job begins with so many once gather_timeout has passed, and does not shrink below: a worker that dies
  // then is waited for. 0: it begins with all, and shrinks until nobody is left.
  std::uint32_t min_workers = 0;
  OnServerLoss on_server_loss = OnServerLoss::kPatch;
  // The folder of its log, of this job alone: a scheduler that is started again with it, at the same address,
  // goes on with the job. Empty: it keeps none. A log that cannot be written for gather_timeout ends the job.
  std::string log_folder;
};

struct ServerOptions {
  LinkOptions link;
  std::string job = "leeway";
  std::string scheduler;               // "host:port", "local:<name>", or "file:<path>" that holds one of them
  std::string listen = "127.0.0.1:0";  // or "local:<name>", as in SchedulerOptions
  bool bind_any = false;               // allow `listen` to be an address that other machines can reach
  std::uint32_t server = 0;            // which server of the job this process is
  std::uint32_t shard = 0;             // which shard of that server this node is
  std::uint64_t spare_bytes_max = 256ULL << 20;  // buffers kept for reuse
  // Which cores its shards run on: "none" (wherever the system puts them), "0-3,6" (each shard on one of
  // them, in turn), "auto" (one each, where there are four cores for every shard of this server and of those
  // before it; else none).
  std::string cores = "auto";
};

struct WorkerOptions {
  // What `leeway run` tells the processes that it starts: the variables LEEWAY_SCHEDULER, LEEWAY_SECRET_FILE,
  // LEEWAY_INSECURE, LEEWAY_JOB, LEEWAY_RANK, LEEWAY_TRANSPORT and LEEWAY_RECORD. A process that nobody
  // launched gets no scheduler, and is then a job of its own. An error names the variable that is wrong. For
  // the user's main(): the library itself never calls it.
  static Result<WorkerOptions> FromEnvironment();

  LinkOptions link;
  std::string job = "leeway";
  // "host:port", "local:<name>", or "file:<path>" that holds one of them. Empty: no job is joined;
  // Worker::Initialize starts a scheduler and a server in this process, for this worker alone.
  std::string scheduler;
  // The file with the job's secret; or, with neither this nor link.secret, `insecure` says that the job has
  // none.
  std::string secret_file;
  bool insecure = false;
  std::int64_t rank = -1;  // -1: the scheduler picks the lowest free one
  std::string host;        // where this process runs and its id, for people; filled in when empty and 0
  std::uint64_t pid = 0;
  bool record = false;       // reports what its own computing takes: leeway run --record
  bool keeps_state = false;  // checkpoints wait for a state of the user's own: Worker::GiveState
  std::uint64_t push_bytes_in_flight_max = 256ULL << 20;  // per shard, pushes without a verdict
  // Outcomes of calls that nobody has asked for yet; and calls queued between the user's thread and the node,
  // of which no more than 1024 wait.
  std::uint32_t queue_max = 1U << 16;
  // The longest wait without progress; 0: no limit. It bounds how long this worker's calls wait for anything
  // but live workers (a server, the scheduler, a file) before they fail, saying for what; and how long the
  // job waits for this worker while it beats and makes no call. Not given: 10 minutes, and the job's limit
  // (SchedulerOptions::wait_max).
  std::optional<std::chrono::milliseconds> wait_max;
  std::chrono::milliseconds stall_warn{10'000};  // a wait this long is reported once, with its culprit
};

}  // namespace leeway
