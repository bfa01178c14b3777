// ServerNode::Core: routes events: frames of workers to blocks, what blocks say to the outbox, the
// scheduler's word to all blocks.
//
// core.cc has its life: start, hellos, losses, what blocks say, reports, the end; core_frames.cc what it does
// with each frame of a worker, core_arrays.cc with those that set and read arrays; core_scheduler.cc the
// scheduler's side: rosters, tables, cuts, acknowledgements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "node/inbound.h"
#include "node/link.h"
#include "node/server/block_alarms.h"
#include "node/server/block_store.h"
#include "node/server/block_warnings.h"
#include "node/server/delayed_pulls.h"
#include "node/server/landed.h"
#include "node/server/outbox.h"
#include "node/server/restores.h"
#include "node/server/roster.h"
#include "node/server/server_node.h"
#include "node/server/sessions.h"
#include "node/server/shard_cut.h"
#include "node/server/shard_figures.h"
#include "node/server/staleness_counts.h"
#include "node/server/table_reports.h"
#include "node/server/takeover.h"
#include "wire/messages.h"

namespace leeway {

class ServerNode::Core final : private InboundEvents, private LinkEvents, private BlockEvents {
 public:
  Core(const ServerOptions& options, Env& env, const ServerPolicies& policies, AddressSource scheduler,
       std::function<void(const Status&)> ended);
  ~Core() override;

  [[nodiscard]] Status Start();
  void Stop(const Status& why);
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const BlockStore& blocks() const { return blocks_; }

 private:
  // From workers.
  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override;
  void OnWelcomed(ConnectionId) override {}
  void OnGone(ConnectionId id, Parting how, const Status& why) override;
  void ForgetPulls(MemberKey who);

  // Their frames (core_frames.cc).
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing&& landing) override;
  Status TakePush(MemberKey from, const FrameHead& head, std::span<const std::byte> body, Landing&& landing);
  Status TakeInit(MemberKey from, const FrameHead& head, std::span<const std::byte> body, Landing&& landing);
  Status TakeAbsent(MemberKey from, std::span<const std::byte> body);
  Status TakePull(MemberKey from, std::span<const std::byte> body);
  // (core_arrays.cc)
  Status TakeAssign(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                    Landing&& landing);
  Status TakeRead(ConnectionId id, MemberKey from, std::span<const std::byte> body);
  Status TakeWhy(ConnectionId id, WorkerId asks, std::span<const std::byte> body);
  // The block, if it is here and `landed` fits it. A block may come to be while a frame for it is under way.
  [[nodiscard]] Block* FindFor(BlockId id, const Gradient& landed) const;
  // There was no memory for what came for this block. Null if it is not here.
  [[nodiscard]] Block* NoteStarved(BlockId id);
  void SayMoved(MemberKey to, BlockId block, Term term, Seq seq);

  // From blocks, during their calls.
  void OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, BlockVerdict verdict,
                 Iteration v_train) override;
  void OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) override;
  void OnStaleness(WorkerId from, std::uint64_t versions) override { staleness_.Note(from, versions); }
  void OnWakeAt(BlockId block, TimePoint when) override { alarms_.Set(block, when); }
  void OnReached(BlockId block) override { cut_.OnReached(block); }
  void OnAlarm(BlockId id);
  void Flush() { outbox_.Flush(sessions_, inbound_); }

  // From the scheduler (core_scheduler.cc).
  wire::pb::Hello MakeHello(std::uint32_t link) override;
  void OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) override;
  [[nodiscard]] Status CheckReach(const std::string& scheduler_host) const;
  void OnDown(std::uint32_t link, const Status& why) override;
  void OnFailed(std::uint32_t, const Status& why) override { End(why); }
  Result<Landing> OnFrameStart(std::uint32_t link, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;
  Status TakeRoster(std::span<const std::byte> body);
  void CloseFenced();
  Status TakeMap(std::span<const std::byte> body);
  // The scheduler withdraws all tables from this one on.
  void DropTables(std::uint32_t kept);
  // Has the pages of blocks that are new here made by another thread while their values are on their way: a
  // fault costs more than the copy of its page, 3 to 15 microseconds on virtual machines.
  void PrepareFirstVersions(std::span<Block* const> created);
  Status TakeCut(std::span<const std::byte> body);
  void OnAllRestored();
  Status TakeJobEnd(std::span<const std::byte> body);
  void TellMembers(Block& block);
  void TellAllMembers();
  void Acknowledge(std::uint64_t epoch);
  void AcknowledgeWhatWaits();
  // A block that another process had: nobody is waited for there without end.
  void TakeOver(const Block& block);

  void Report();
  void SendReport();
  void End(const Status& why);

  const ServerOptions options_;
  Env& env_;
  const std::function<void(const Status&)> ended_;
  const std::uint64_t life_;
  std::string address_;
  ShardPlace place_;
  bool welcomed_ = false;  // may own blocks
  bool over_ = false;
  TimerId report_timer_, takeover_timer_;

  // In the order of who borrows whom: what is declared later goes first.
  BufferPool pool_;
  Roster roster_;
  Sessions sessions_;
  Outbox outbox_{options_.link.frame_payload_bytes};
  DelayedPulls delayed_pulls_;
  StalenessCounts staleness_;
  TableReports table_reports_;
  ShardTraffic traffic_;
  BlockWarnings warnings_;
  RateLimitedLog strained_;  // of pushes without memory
  SparePushes spare_pushes_;
  wire::Absent absent_;
  wire::Pull pull_;
  BlockStore blocks_;
  BlockAlarms alarms_;
  Takeover takeover_;
  std::uint64_t acknowledge_later_ = 0;
  std::vector<BlockStore::Refused> refused_;  // tables, of which the scheduler does not know yet
  std::optional<wire::pb::Cut> cut_later_;    // begun when all blocks are here
  Restores restores_;
  ShardCut cut_;
  Inbound inbound_;
  Link link_;
};

}  // namespace leeway
