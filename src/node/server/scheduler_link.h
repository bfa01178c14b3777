// SchedulerLink: a shard's connection to the scheduler. Registers the shard, reports with every beat and
// hands on the messages of the scheduler.
//
// Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "leeway/env.h"
#include "leeway/options.h"
#include "node/link.h"
#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

class SchedulerEvents {
 public:
  virtual ~SchedulerEvents() = default;
  virtual void OnRoster(const wire::pb::Roster& roster) = 0;
  // After an error the shard cannot follow the scheduler: OnEnd comes next.
  [[nodiscard]] virtual Status OnTableMap(const wire::pb::TableMap& map) = 0;
  virtual void OnCut(const wire::pb::Cut& cut) = 0;
  [[nodiscard]] virtual wire::pb::Report MakeReport() = 0;
  // The job is over, or the shard cannot go on.
  virtual void OnEnd(const Status& why) = 0;
};

class SchedulerLink final : private LinkEvents {
 public:
  // Borrows all but `where`.
  SchedulerLink(const ServerOptions& options, Env& env, AddressSource where, SchedulerEvents& events);
  ~SchedulerLink() override;

  // `address`: at which the shard listens.
  void Start(const std::string& address);
  void Stop(const Status& why);
  // Drops the message unless the link is up.
  void Send(wire::Kind kind, const google::protobuf::MessageLite& message) {
    link_.SendControl(kind, message);
  }
  // As the scheduler's welcome said.
  [[nodiscard]] const ShardPlace& place() const { return place_; }

 private:
  wire::pb::Hello MakeHello(std::uint32_t link) override;
  void OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) override;
  void OnDown(std::uint32_t link, const Status& why) override;
  void OnFailed(std::uint32_t, const Status& why) override { events_.OnEnd(why); }
  Result<Landing> OnFrameStart(std::uint32_t link, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;
  [[nodiscard]] Status CheckReach(const std::string& scheduler_host) const;
  [[nodiscard]] Status Take(wire::Kind kind, std::span<const std::byte> body);
  void Report();

  const ServerOptions& options_;
  Env& env_;
  SchedulerEvents& events_;
  const std::uint64_t life_;
  std::string address_;
  ShardPlace place_;
  bool welcomed_ = false;  // may own blocks
  TimerId report_timer_;
  Link link_;
};

}  // namespace leeway
