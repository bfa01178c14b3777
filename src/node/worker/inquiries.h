// Inquiries: why a wait takes so long. The shard of the block is asked, then the scheduler, each once and not
// for long. The scheduler may ask this worker too: then its shards name the missing workers.
//
// Callbacks go out through DueCallbacks; its timers run them. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "node/link.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/stall_text.h"
#include "node/worker/wait_survey.h"
#include "wire/control.pb.h"

namespace leeway {

class Inquiries {
 public:
  // Gets the answer to the scheduler's question, once for every Survey but one that a later one replaces.
  using Surveyed = std::function<void(wire::pb::WhyReply)>;

  // Borrows the first three for its life.
  Inquiries(Timers& timers, DueCallbacks& due, Link& scheduler, Surveyed surveyed);
  ~Inquiries();
  Inquiries(const Inquiries&) = delete;
  Inquiries& operator=(const Inquiries&) = delete;

  // So many questions are open that no other may be put.
  [[nodiscard]] bool full() const;
  // Asks the shard about the block, if it is up (null: the wait is on no block), then the scheduler, if
  // `facts` says that it is up and it can know more. REQUIRES: not full.
  void Explain(StallFacts facts, Link* shard, BlockId block, Explained done);

  // The scheduler asks: `ask` adds the waits that are open, by AddWait and AskShard.
  void Survey(std::uint64_t round, const std::function<void()>& ask);
  void AddWait(const wire::pb::OpenWait& wait) { survey_.Add(wait); }
  void AskShard(Link& shard, BlockId block, WaitSurvey::Question question);

  void OnReply(const wire::pb::WhyReply& reply, bool of_scheduler);
  // Ends all of it; nobody is told.
  void Drop();

 private:
  // One question, and the peer that it was put to.
  struct Inquiry {
    StallFacts facts;
    bool asks_scheduler = false;  // first the shard, if there is one
    TimerId timer;
    Explained done;
  };

  void AskScheduler(std::uint64_t request);
  void End(std::uint64_t request);
  void EndSurvey();

  Timers& timers_;
  DueCallbacks& due_;
  Link& scheduler_;
  const Surveyed surveyed_;
  std::map<std::uint64_t, Inquiry> open_;  // by request
  std::uint64_t last_request_ = 0;
  WaitSurvey survey_;
  TimerId survey_timer_;
};

}  // namespace leeway
