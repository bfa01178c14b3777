// ServerNode: one shard of one server. Owns blocks; takes pushes and pulls; tells the scheduler how it fares.
//
// A single-threaded state machine over Env. The node routes events between workers, the scheduler and its
// blocks; its parts do the work, each in a file of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "block/block.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "node/inbound.h"
#include "node/server/block_alarms.h"
#include "node/server/block_members.h"
#include "node/server/block_store.h"
#include "node/server/outbox.h"
#include "node/server/restores.h"
#include "node/server/scheduler_link.h"
#include "node/server/sessions.h"
#include "node/server/shard_acks.h"
#include "node/server/shard_cut.h"
#include "node/server/shard_reports.h"
#include "node/server/worker_frames.h"

namespace leeway {

// The policies a server can make blocks with; owned by the caller for the node's life.
struct ServerPolicies {
  const Registry<SyncModel>& sync;
  const Registry<Optimizer>& optimizers;
};

class ServerNode final : private InboundEvents, private SchedulerEvents, private BlockEvents {
 public:
  // `ended` is called once: ok when the job is over, else why this shard cannot go on.
  ServerNode(const ServerOptions& options, Env& env, const ServerPolicies& policies, AddressSource scheduler,
             std::function<void(const Status&)> ended);

  // Listens, then registers with the scheduler.
  [[nodiscard]] Status Start();
  // Says goodbye and stops; `ended` is not called any more.
  void Stop(const Status& why = Status::Ok());
  [[nodiscard]] const std::string& address() const { return address_; }
  // For tests and status: the block if this shard owns it, else null.
  [[nodiscard]] const Block* FindBlock(BlockId id) const { return blocks_.Find(id); }
  [[nodiscard]] BlockCounters counters() const { return blocks_.Sum(); }  // summed over blocks
  [[nodiscard]] std::uint64_t dprs() const { return reports_.dprs(); }
  [[nodiscard]] std::uint64_t answers_withdrawn() const { return outbox_.held().withdrawn(); }

 private:
  // From workers.
  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override;
  void OnWelcomed(ConnectionId) override {}
  void OnGone(ConnectionId id, Parting how, const Status& why) override;
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing&& landing) override;
  Status AnswerWhy(ConnectionId id, WorkerId asks, std::span<const std::byte> body);
  void ForgetPulls(MemberKey who);

  // From the scheduler.
  void OnRoster(const wire::pb::Roster& roster) override;
  Status OnTableMap(const wire::pb::TableMap& map) override;
  void OnCut(const wire::pb::Cut& cut) override;
  wire::pb::Report MakeReport() override;
  void OnEnd(const Status& why) override;
  void CloseFenced();
  // Acknowledges this epoch, or puts it off until all blocks are here and know all members.
  void Acknowledge(std::uint64_t epoch);
  void AcknowledgePutOff();

  // From blocks, during their calls.
  void OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, Verdict verdict,
                 Iteration v_train) override;
  void OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) override;
  void OnResumed(BlockId block, Term term, MemberKey to, Seq last, Iteration v_train) override {
    outbox_.AddResumed(to, {block, term, last, v_train});
  }
  void OnStaleness(WorkerId from, std::uint64_t versions) override { reports_.NoteStaleness(from, versions); }
  void OnWakeAt(BlockId block, TimePoint when) override { alarms_.Set(block, when); }
  void OnReached(BlockId block) override { cut_.OnReached(block); }
  void Flush() { outbox_.Flush(sessions_, inbound_); }

  const ServerOptions options_;
  Env& env_;
  const std::function<void(const Status&)> ended_;
  std::string address_;
  bool over_ = false;

  // A part borrows only parts that are declared before it.
  BufferPool pool_;
  BlockStore blocks_;
  Sessions sessions_;
  Outbox outbox_;
  ShardReports reports_;
  BlockAlarms alarms_;
  BlockMembers members_;
  ShardAcks acks_;
  WorkerFrames frames_;
  Restores restores_;
  ShardCut cut_;
  Inbound inbound_;
  SchedulerLink scheduler_;
};

}  // namespace leeway
