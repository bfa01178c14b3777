// Options: one commented struct per role, with defaults in place. Every queue, retry and wait has its limit
// here.
//
// apps/ and python/ fill the structs; they alone read argv, environment and files, except for
// WorkerOptions::FromEnvironment. The role that takes a struct checks it.
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
  std::chrono::milliseconds beat{1000};  // a node sends a ping this long after its last frame
  // A node cuts off a peer that is silent this long, and reconnects.
  std::chrono::milliseconds silence_max{10'000};
  std::chrono::milliseconds hello_timeout{2'000};  // limit of connect + hello + welcome together
  std::chrono::milliseconds backoff_min{20};       // first pause before reconnecting; doubles, with jitter
  std::chrono::milliseconds backoff_max{1'000};
  std::chrono::milliseconds give_up_after{30'000};  // without a welcome for this long the peer is unreachable
  std::uint32_t body_bytes_max = 16U << 20;         // limit of a frame's body after the hello
  std::uint64_t payload_bytes_max = 64ULL << 20;
  // A node cuts off a peer that sends another frame while this many bytes of earlier answers are unread. A
  // shard allows every worker one answer per block beyond that.
  std::uint64_t unread_bytes_max = 64ULL << 20;
  // Blocks share a frame up to this size. It is large enough that headers cost nothing, and small enough that
  // the first block of a large table leaves early.
  std::uint64_t frame_payload_bytes = 1U << 20;
  // The carrier of frames. "auto": shared memory between processes of one host that can share it, else TCP.
  // "local": shared memory or an error. "uds": the Unix socket alone, for comparison. "tcp": TCP alone.
  std::string transport = "auto";
  // The job's secret. Both ends of every connection prove that they know it before any other frame. A node
  // with an empty secret trusts every peer. A node with a secret and a node without one refuse each other.
  std::string secret;
};

// Options that a whole job shares. The scheduler holds them and sends them to every member in the welcome.
struct JobOptions {
  std::string job = "leeway";  // nodes of another job are refused
  std::uint32_t workers = 1;   // members that the job starts with
  std::uint32_t servers = 1;
  std::uint32_t shards = 1;  // per server
  std::string sync = "bsp";  // default for tables that name no model
  std::string apply;         // empty: the default of the sync model
  // Rules that give some tables and servers another model than `sync`. The last rule that matches counts.
  // A rule reads "[tables=GLOB] [server=N] sync=SPEC [apply=SPEC]"; src/sync/sync_rules.h parses it.
  std::vector<std::string> rules;
  std::string pull = "full";         // or partial:b,tau_ms
  std::string exchange = "every:1";  // or every:k, when_stale:s, significant:t
  // False puts a barrier of all workers between the pushes and the pulls of an iteration, as PS-Lite does.
  // For comparison only.
  bool overlap = true;
  // A worker sends what it has for a shard in parts of this many bytes: the pushes of some blocks, then their
  // pulls. The server answers one part while the next is on its way, so both directions of its link are busy.
  // 1: block by block. A part has at most 32 blocks, however small they are.
  std::uint32_t flush_bytes = 256U << 10;
  // Over TCP a sender lets frames leave first whose tables an iteration uses first. Each worker learns that
  // order in its first iterations.
  bool priorities = true;
  // "ready": the pull of a table leaves with its push. "clock": all pulls leave at Clock().
  std::string pull_at = "ready";
  std::string placement = "lpt";
  // The size limit of a block, a multiple of 4. 0: the scheduler chooses it from the bytes of the model and
  // the number of shards, so that even a small model spreads over all servers
  // (src/node/scheduler/block_bytes.h).
  std::uint32_t block_bytes = 0;
  std::uint64_t seed = 1;  // seed of coins and of every other random draw
};

// The job's reaction to the death of a worker.
enum class OnWorkerLoss : std::uint8_t {
  kShrink,  // the job goes on without it; a later worker may take its place
  kWait,    // its place stays in every count until a worker takes it, at most gather_timeout
  kFail,    // the job ends
};

// The job's reaction to the death of a server. (The launcher restarts a whole job from its last checkpoint;
// the scheduler ends in that case.)
enum class OnServerLoss : std::uint8_t {
  kPatch,  // another process takes its place with the state of the last checkpoint, and reports the loss
  kFail,   // the job ends
};

// When a job writes checkpoints, and where it resumes. Every server and the scheduler see the same folder.
struct CheckpointOptions {
  std::string folder;                       // empty: the job writes no checkpoints
  std::uint64_t every_iterations = 0;       // 0: not by iterations
  std::chrono::milliseconds every{0};       // 0: not by time
  std::chrono::milliseconds limit{60'000};  // the scheduler gives up a checkpoint that takes longer
  std::uint32_t keep = 2;                   // number of newest checkpoints to keep
  // The longest wait for the folder's lock: a process that has just died may hold it for a moment more.
  std::chrono::milliseconds lock_wait{5'000};
  std::string resume;  // a checkpoint, or a folder (its newest complete one counts); empty: start anew
};

struct SchedulerOptions {
  JobOptions job;
  LinkOptions link;
  CheckpointOptions checkpoint;
  // "host:port", or "local:<name>" for processes of this host alone, without a TCP port. "local:" picks a
  // free name.
  std::string listen = "127.0.0.1:0";
  bool bind_any = false;            // allow `listen` to be an address that other machines can reach
  std::uint32_t monitors_max = 64;  // limit of connected monitors: `leeway ctl`, the launcher's bar
  // The scheduler reports a member without a beat for this long.
  std::chrono::milliseconds suspect_after{3'000};
  // The scheduler declares a member dead that sends no beat for this long.
  std::chrono::milliseconds expel_after{10'000};
  // The scheduler declares a worker dead that beats but has made no call for this long while others wait for
  // it. 0: they wait as long as it beats. A worker may set its own limit: WorkerOptions::wait_max.
  std::chrono::milliseconds wait_max{0};
  // The longest wait for missing workers and servers at the start: then the job begins with min_workers, or
  // fails and names the missing ones. Also the longest wait for a successor of a dead worker: then the job
  // fails.
  std::chrono::milliseconds gather_timeout{60'000};
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
  // The job begins with this many workers once gather_timeout has passed. It never shrinks below: it waits
  // for a successor of a worker that dies then. 0: the job begins with all workers, and shrinks until none is
  // left.
  std::uint32_t min_workers = 0;
  OnServerLoss on_server_loss = OnServerLoss::kPatch;
  // The folder of the scheduler's log, for this job alone. A scheduler that starts again with the same folder
  // and address continues the job. Empty: the scheduler keeps no log. If the log cannot be written for
  // gather_timeout, the job ends.
  std::string log_folder;
};

// The part of a trace that one process writes (leeway run --trace).
struct TraceOptions {
  std::string folder;  // of the files of all processes; empty: no trace
  std::string steps = "10:30";
  std::uint64_t events_max = 100'000;
};

struct ServerOptions {
  LinkOptions link;
  std::string job = "leeway";
  std::string scheduler;  // "host:port", "local:<name>", or "file:<path>" of a file that holds either
  std::string listen = "127.0.0.1:0";  // or "local:<name>", as in SchedulerOptions
  bool bind_any = false;               // allow `listen` to be an address that other machines can reach
  std::uint32_t server = 0;            // index of this process among the job's servers
  std::uint32_t shard = 0;             // index of this node among the server's shards
  std::uint32_t shards = 0;  // how many the process runs: the job wants the same of each server; 0: not said
  std::uint64_t spare_bytes_max = 256ULL << 20;  // limit of buffers kept for reuse
  // The cores of its shards. "none": the system places the threads. "0-3,6": each shard runs on one of these
  // cores, in turn. "auto": one core per shard, if the host has four cores for every shard of this server and
  // of those before it; else "none".
  std::string cores = "auto";
  TraceOptions trace;
};

struct WorkerOptions {
  // Reads the variables that `leeway run` sets for its children: LEEWAY_SCHEDULER, LEEWAY_SECRET_FILE,
  // LEEWAY_INSECURE, LEEWAY_JOB, LEEWAY_RANK, LEEWAY_TRANSPORT, LEEWAY_PLUGINS, LEEWAY_RECORD, LEEWAY_TRACE
  // and LEEWAY_TRACE_STEPS. Without `leeway run` the scheduler stays empty, so the process becomes a job of
  // its own. An error names the wrong variable. For the user's main(): the library itself never calls it.
  static Result<WorkerOptions> FromEnvironment();

  LinkOptions link;
  std::string job = "leeway";
  // "host:port", "local:<name>", or "file:<path>" of a file that holds either. Empty: the worker joins no
  // job; Worker::Initialize starts a scheduler and a server in this process, for this worker alone.
  std::string scheduler;
  // The file with the job's secret. If this and link.secret are empty, `insecure` must say that the job has
  // no secret.
  std::string secret_file;
  bool insecure = false;
  std::int64_t rank = -1;  // -1: the scheduler picks the lowest free rank
  std::string host;  // host and id of this process, for people; Initialize fills them in when empty and 0
  std::uint64_t pid = 0;
  // Shared libraries with policies of the user's own (leeway/plugin.h): the same as of the job's scheduler
  // and servers.
  std::vector<std::string> plugins;
  bool record = false;  // report the time of its own computation: leeway run --record
  TraceOptions trace;
  bool keeps_state = false;  // checkpoints wait for the user's state: Worker::GiveState
  std::uint64_t push_bytes_in_flight_max = 256ULL << 20;  // per shard: bytes of pushes without a verdict
  // Limit of outcomes that the user has not asked for yet, and of calls queued between the user's thread and
  // the node. At most 1024 queued calls wait in any case.
  std::uint32_t queue_max = 1U << 16;
  // The longest wait without progress; 0: no limit. It bounds two waits. This worker's calls wait this long
  // for a server, the scheduler or a file (not for live workers), then fail and name the cause. The job waits
  // this long for this worker while it beats but makes no call. Not set: 10 minutes, and the job's limit
  // (SchedulerOptions::wait_max).
  std::optional<std::chrono::milliseconds> wait_max;
  std::chrono::milliseconds stall_warn{10'000};  // a wait this long is reported once, with its cause
};

}  // namespace leeway
