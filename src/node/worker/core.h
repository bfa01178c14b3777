// WorkerNode::Core: the state of a worker node, and the routing of events to its parts.
//
// The parts have files of their own: ShardPort (sending), PushQueue, PullState, PairLanding,
// SchedulerRequests, RosterView. The .cc files of this class are split by what they do: core_join,
// core_tables, core_iteration, core_exchange, core_use, core_rules, core_step, core_frames, core_arrays,
// core_leave, core_report, core_waiting, core_stall, core_survey.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "node/worker/array_reads.h"
#include "node/worker/block_rules.h"
#include "node/worker/client_state.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/exchange.h"
#include "node/worker/partial_use.h"
#include "node/worker/push_loans.h"
#include "node/worker/roster_view.h"
#include "node/worker/scheduler_requests.h"
#include "node/worker/shard_ports.h"
#include "node/worker/stall_text.h"
#include "node/worker/step_barrier.h"
#include "node/worker/table_set.h"
#include "node/worker/wait.h"
#include "node/worker/wait_account.h"
#include "node/worker/wait_survey.h"
#include "node/worker/worker_node.h"

namespace leeway {

class WorkerNode::Core final : private LinkEvents {
 public:
  Core(const WorkerOptions& options, Env& env, const Registry<SyncModel>& models, AddressSource scheduler,
       WorkerNodeEvents& events);
  ~Core() override;

  // As in WorkerNode.
  void Join(Done done);
  Result<TableId> CreateTable(const TableSpec& spec, ParameterPair& pair);
  void Start(Done done);
  void Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin, Done done);
  void Assign(TableId id, AssignedArray array, LentGradient values, Done done);
  void ReadArrays(TableId id, ArraysWanted what, ArraysDone done);
  Status GradientReady(TableId id, LentGradient gradient, Done done);
  Status EndIteration(std::optional<std::uint32_t> group);
  void WhenUsable(TableId id, Done usable);
  Status PushOwn(TableId id, LentGradient gradient, Done done);
  Status PullInto(TableId id, std::span<float> values, Done done);
  [[nodiscard]] Status MayMeet(const std::string& what) const;
  void Barrier(const std::string& name, Done done);
  void LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                    std::span<const Iteration> used, SchedulerRequests::LeaseDone done);
  void SetSync(const std::string& rule, SchedulerRequests::SetSyncDone done);
  [[nodiscard]] std::vector<std::string> SyncsOf(const std::string& tables) const {
    return BlockRules::SyncsOf(tables, tables_);
  }
  void Leave(Done done);
  void Finish(Done done);
  void Shutdown(Done done);
  void Fail(const Status& why);
  [[nodiscard]] bool StateWanted() const {
    return phase_ == Phase::kMember && client_state_.IsWanted(iteration_);
  }
  void GiveState(RankBytes state);
  [[nodiscard]] const RankBytes& restored_state() const { return client_state_.restored(); }
  [[nodiscard]] std::string WaitingFor() const { return Waiting().text; }
  void ExplainWait(Explained done);
  // The user has made a call.
  void NoteAct() { ++acts_; }

  // Runs the callbacks that this event made due. Called at the end of every entry from outside.
  void RunLater() { due_.Run(); }
  // As in WorkerNode.
  void BeginCalls() { ports_.BeginCalls(); }
  void EndCalls() { ports_.EndCalls(); }

  [[nodiscard]] WorkerId rank() const { return stance_.worker; }
  [[nodiscard]] const JobOptions& job() const { return job_; }
  [[nodiscard]] Iteration iteration() const { return iteration_; }
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  [[nodiscard]] const WorkerCounters& counters() const { return counters_; }
  void SetFigure(const std::string& name, double value) { figures_[name] = value; }
  void SetVerdictObserver(VerdictObserver observer) { observer_ = std::move(observer); }
  void SetResumeObserver(std::function<void(TableId, BlockId, Term, Seq last)> observer) {
    resume_observer_ = std::move(observer);
  }

 private:
  enum class Phase : std::uint8_t {
    kNew,
    kJoining,
    kMember,
    kLeaving,
    kObserver,
    kFinishing,
    kFinished,
    kStopped,
    kFailed
  };
  // Where the arrays of one frame land; kept until all of it is here.
  struct ArraysLanding {
    wire::Arrays arrays;
    std::shared_ptr<ArrayRead> read;  // shared: the read may end before the frame does; null: nobody waits
    std::vector<std::byte> nowhere;   // for what nobody waits for
  };
  // Where the values of one answer land, decided when its frame begins.
  struct Slot {
    enum class Use : std::uint8_t { kNothing, kPair, kInto } use = Use::kNothing;
    BufferRef staged;
  };
  struct AnswerLanding {
    wire::Answers answers;
    std::vector<Slot> slots;
  };

  // LinkEvents. Link 0 is the scheduler's, 1 + n that of shard n.
  wire::pb::Hello MakeHello(std::uint32_t link) override;
  void OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) override;
  void OnDown(std::uint32_t link, const Status& why) override;
  void OnFailed(std::uint32_t link, const Status& why) override;
  Result<Landing> OnFrameStart(std::uint32_t link, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;

  // Joining and membership.
  void OnWelcome(const wire::pb::Welcome& welcome);
  [[nodiscard]] Status TakePolicies();
  void OnRoster(const wire::pb::Roster& roster);
  void ReadState(const wire::pb::RankRestore& from);
  [[nodiscard]] Status OpenPorts();
  void JoinIfAllUp();

  // Frames.
  Status OnSchedulerFrame(wire::Kind kind, std::span<const std::byte> body);
  Status OnVerdicts(ShardPort& port, std::span<const std::byte> body, std::uint64_t payload_bytes);
  Status OnVerdict(ShardPort& port, const wire::VerdictEntry& entry);
  Status OnSettled(WorkerBlock& block, QueuedPush& push, const wire::VerdictEntry& entry);
  // Arrays that are set and read (core_arrays).
  Result<Landing> LandArrays(const FrameHead& head, std::span<const std::byte> body);
  Status OnArrays(const ShardPort& port, const wire::Arrays& arrays);
  // Asks for what was not asked on this connection.
  void SendReads();
  void FailReads(const Status& why);
  void OnInitialized(WorkerBlock& block, bool refused);
  // Sees to it that values on offer which lie in the table's own buffers are not written over while they are
  // on loan: keeps the front where it is until `done`, or lends a copy.
  void GuardOffer(WorkerTable& table, LentGradient& offer, Done& done);
  Result<Landing> LandAnswers(const ShardPort& port, const FrameHead& head, std::span<const std::byte> body);
  [[nodiscard]] Status CheckAddressee(WorkerId worker, Incarnation incarnation) const;
  // Adds its place to `landing`, if it has one.
  Result<Slot> ChooseSlot(const ShardPort& port, const wire::AnswerEntry& entry, Landing& landing);
  Status OnAnswers(ShardPort& port, AnswerLanding& landing);
  [[nodiscard]] std::shared_ptr<AnswerLanding> TakeLanding();
  Status OnAnswer(ShardPort& port, const wire::AnswerEntry& entry, Slot& slot);
  // A job-clock answer that says something new.
  [[nodiscard]] bool IsWanted(const ShardPort& port, const WorkerBlock& block,
                              const wire::AnswerEntry& entry) const;

  // Tables.
  [[nodiscard]] Status TakeMap(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map);
  void OnMoved(WorkerBlock& block);
  // Another process has taken this shard over.
  void OnReplaced(ShardPort& port);
  // Under a new term: its owner has everything of ours up to `last`, and nothing else.
  void OnResumed(WorkerBlock& block, Seq last);
  void ArmMapRequest();
  void AskForNewMap();
  void TakeNewMap(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map);

  // Rules: what each block's model has the worker do by itself.
  // The scheduler's word, unasked: other models from now on.
  void OnSwitch(const wire::pb::TableMap& map);
  void CountRules();
  // The block that an iteration waits for to begin, since its pushes lack verdicts (bounded); null: none.
  [[nodiscard]] WorkerBlock* HeldUp() const;
  // Goes on in the lowest iteration that the blocks which skip ahead have told, if that is higher and nothing
  // of this one was handed in. True if it is.
  bool Raise();

  // Exchange: gradients out in this iteration, or added up.
  void HandIn(WorkerTable& table, LentGradient gradient, Done done);
  // Pushes the gradient and asks for the values that follow. Without a gradient the iteration is absent, and
  // `idle` if it is of another group.
  void SendOut(WorkerTable& table, std::optional<LentGradient> gradient, Done done, bool idle = false);
  void PushSums();
  // A checkpoint is to be cut: what has added up goes out before, or is said to come too late for it.
  void OnCut(const wire::pb::Cut& cut);
  void NoteLead(const WorkerTable& table);

  // The step of a job without overlap: verdicts, then a barrier, then pulls.
  void StepIfSettled();
  void OnStepped(const Status& status);
  void DropSteps();

  // Iterations.
  [[nodiscard]] Status CheckMember() const;
  [[nodiscard]] Status CheckGradient(const WorkerTable& table, const LentGradient& gradient) const;
  void PushBlocks(WorkerTable& table, Iteration iteration, std::uint64_t steps, LentGradient gradient,
                  Done done);
  // Asks for what the table needs after `progress`: nothing where what is held serves.
  void RequestBlocks(WorkerTable& table, Iteration progress);
  void PublishIfWhole(WorkerTable& table);
  // Ends the waits for the table that may end, and raises the iteration before if it is over elsewhere.
  void LetUse(WorkerTable& table);
  void LetUseAll();
  [[nodiscard]] bool MayUsePartly(const WorkerTable& table) const;
  void BeginInto(WorkerTable& table);
  // Training begins with the last read, barrier or lease before the first gradient.
  void NoteBeforeTraining();
  // `table` is what was waited for last; null: the worker ends.
  void EndWait(const WorkerTable* table);

  // Ends of all kinds.
  void OnLoansLooked();
  void LeaveIfSettled();
  void OnLeft(Epoch epoch);
  void PullFinal();
  void FinishIfWhole();
  [[nodiscard]] bool WritesState() const;
  void StopLinks(const Status& why);
  void FailPending(const Status& why);

  // Reports.
  void OnReportTimer();
  void SendReport();
  // Tells the scheduler what became of this worker's part of a checkpoint.
  void AnswerIfSettled();
  void ReportWaits(wire::pb::Report& report) const;
  void ReportMoment(const Wait& wait, wire::pb::WorkerMoment& moment) const;
  [[nodiscard]] Wait Waiting() const;
  [[nodiscard]] Wait WaitingToJoin() const;
  [[nodiscard]] Wait WaitingForUse() const;
  [[nodiscard]] Wait WaitingToBegin() const;
  [[nodiscard]] Wait WaitingForVerdict() const;
  [[nodiscard]] Wait WaitingToFinish() const;
  [[nodiscard]] std::string DescribeBlock(const WorkerBlock& block, std::string_view what,
                                          TimePoint since) const;

  // Why a wait takes so long. One question, and whom it was put to.
  struct Inquiry {
    StallFacts facts;
    bool asks_scheduler = false;  // first the shard, if there is one
    TimerId timer;
    Explained done;
  };
  void AskScheduler(std::uint64_t request);
  void OnWhyReply(const wire::pb::WhyReply& reply, bool of_scheduler);
  void EndInquiry(std::uint64_t request);
  void DropInquiries();

  // For whom the user waits: the scheduler asks.
  [[nodiscard]] bool UserWaits() const;
  // Nothing that this worker has sent is on its way, nothing is to be sent, and no thread of the user
  // computes.
  [[nodiscard]] bool IsSettled() const;
  void OnAsked(const wire::pb::Why& why);
  void SurveyWaits();
  void SurveyPull(const WorkerTable& table);
  void AskShard(const WorkerBlock& block, WaitSurvey::Question question);
  void EndSurvey();

  const WorkerOptions options_;
  Env& env_;
  WorkerNodeEvents& events_;
  const std::uint64_t life_;

  Phase phase_ = Phase::kNew;
  Status failure_;
  Status gone_;  // of a finished worker: why a peer does not come back; the worker reads nothing any more
  Stance stance_;
  JobOptions job_;
  RosterView roster_;
  WorkerCounters counters_;
  DueCallbacks due_;
  std::map<std::string, double> figures_;
  Iteration iteration_{0};
  bool goes_on_ = false;     // as in WorkerNode
  std::uint64_t steps_ = 0;  // iterations that this worker ended itself

  Link scheduler_;
  SchedulerRequests requests_;
  ClientState client_state_;
  bool reading_state_ = false;  // the join waits for it
  ArrayReads reads_;
  std::map<std::uint64_t, Inquiry> inquiries_;
  std::uint64_t last_inquiry_ = 0;
  std::uint64_t acts_ = 0;  // calls of the user
  WaitSurvey survey_;
  TimerId survey_timer_;
  // After the link to the scheduler: connections to shards end before it.
  TableSet tables_;
  ShardPorts ports_{stance_, counters_, options_};
  PushLoans loans_;
  BlockRules rules_;
  Exchange exchange_{counters_};
  PartialUse partial_;
  StepBarrier step_;
  WaitAccount waits_{counters_};
  Iteration handed_{-1};  // the last iteration with a gradient

  std::size_t inits_open_ = 0;  // blocks whose initial values are not acknowledged
  TimePoint phase_since_;
  Iteration final_progress_ = kIterationMax;
  std::size_t final_left_ = 0;  // own-clock tables whose final values are not here

  std::vector<Done> join_done_, leave_done_, finish_done_, stop_done_;
  VerdictObserver observer_;
  std::function<void(TableId, BlockId, Term, Seq)> resume_observer_;
  // Of the frame at hand; kept to reuse their memory. Landings are several: one per answer frame under way.
  wire::Verdicts verdicts_;
  std::vector<std::shared_ptr<AnswerLanding>> landings_;
  std::vector<WorkerTable*> answered_;
  bool leave_sent_ = false;
  std::optional<wire::pb::RankState> state_answer_;  // not sent yet
  bool cut_at_once_ = false;                         // the last cut takes blocks as they are
  bool lost_unreported_ = false;  // the scheduler has not heard yet of pushes that were lost
  bool failure_told_ = false;
  bool map_asked_ = false;
  Duration map_backoff_{};

  TimerId report_timer_, map_timer_, broken_timer_;
};

}  // namespace leeway
