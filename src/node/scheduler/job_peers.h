// JobPeers: the connections of the job by role and seat, and all that the scheduler says through them:
// frames, rosters, and the epochs that the shards acknowledge.
//
// Frames of peers go to the InboundEvents that it is given. Thread rule: that of Env.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "node/inbound.h"
#include "node/scheduler/epoch_acks.h"
#include "node/scheduler/gone_notices.h"
#include "node/scheduler/job_log.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/scheduler_actions.h"

namespace leeway {

class JobPeers final : public SchedulerActions, public LogGate {
 public:
  struct Peer {
    wire::pb::Role role = wire::pb::ROLE_NONE;
    std::size_t seat = 0;  // of a worker: its rank; of a shard: its dense id
    std::uint64_t life = 0;
    std::uint32_t unread = 0;  // status requests since an answer that it has not read
  };

  // Borrows env and events. `roster` gives the members as of now.
  JobPeers(Env& env, const SchedulerOptions& options, std::size_t shards,
           std::function<wire::pb::Roster()> roster, InboundEvents& events);

  [[nodiscard]] Status Listen(const std::string& address);
  [[nodiscard]] const std::string& address() const { return address_; }  // as bound
  void Add(ConnectionId id, const Peer& peer) { peers_[id] = peer; }
  // The connection is gone: drops what waits on its behalf.
  void Remove(ConnectionId id);
  // Says goodbye with `why`, and closes.
  void Close(ConnectionId id, const Status& why) { inbound_.Close(id, why); }
  // Says all that still waits for the log, and closes every connection.
  void CloseAll(const Status& why);
  [[nodiscard]] const Peer& at(ConnectionId id) const { return peers_.at(id); }
  [[nodiscard]] const std::map<ConnectionId, Peer>& all() const { return peers_; }
  // Whether one more monitor may come.
  [[nodiscard]] Status CheckMonitors() const;
  // Whether a status request of this peer is answered now. An error for a peer that never reads.
  [[nodiscard]] Result<bool> MayAnswerStatus(ConnectionId id);
  // Notes in the seats when each connected member was heard last.
  void HearConnected(Membership& members) const;

  void Send(ConnectionId to, wire::Kind kind, const Message& message) override;
  void SendToShards(wire::Kind kind, const Message& message) override;
  void SendToMembers(wire::Kind kind, const Message& for_shards, const Message& for_workers) override;
  void SendToAll(wire::Kind kind, const Message& message);
  void SendRosterTo(wire::pb::Role role);
  void SendRosterToOthers(ConnectionId than);
  // Members hear of one that is gone, soon. `last`: no live member remains.
  void OnMemberGone(bool last) { notices_.OnGone(last); }
  // Shards hear of leavers that they have not heard of yet. An acknowledgement covers what came before it.
  void TellShardsOfGone();
  // The job is over.
  void StopNotices() { notices_.Stop(); }

  [[nodiscard]] Epoch epoch() const override { return epoch_; }
  // Of a change that the shards hear of later.
  Epoch RaiseEpoch() { return ++epoch_; }
  [[nodiscard]] Epoch NextEpoch() override;
  void RestoreEpoch(Epoch epoch) { epoch_ = epoch; }
  void WhenAcked(Epoch epoch, ConnectionId whose, std::function<void()> then) override;
  void Ack(ShardId shard, Epoch epoch) { acks_.Ack(shard, epoch); }
  // Another process has this shard: it has acknowledged nothing.
  void ResetAcks(ShardId shard) { acks_.Reset(shard); }
  // The shards that have not acknowledged this epoch.
  [[nodiscard]] std::vector<ShardId> Unacked(Epoch epoch) const { return acks_.Missing(epoch); }

  void Hold(std::function<void()> waiting) override { inbound_.Hold(std::move(waiting)); }
  [[nodiscard]] std::uint64_t last_said() const override { return inbound_.last_held(); }
  void Release(std::uint64_t up_to) override { inbound_.Release(up_to); }
  void DropHeld() override { inbound_.EndHold(true); }

 private:
  Env& env_;
  const std::int64_t monitors_max_;
  const std::function<wire::pb::Roster()> roster_;
  std::string address_;
  Epoch epoch_;
  EpochAcks acks_;
  GoneNotices notices_;
  std::map<ConnectionId, Peer> peers_;  // welcomed, or about to be
  Inbound inbound_;
};

}  // namespace leeway
