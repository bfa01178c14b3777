#include "node/server/scheduler_link.h"

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/host_text.h"
#include "node/control_frame.h"

namespace leeway {

SchedulerLink::SchedulerLink(const ServerOptions& options, Env& env, AddressSource where,
                             SchedulerEvents& events)
    : options_(options),
      env_(env),
      events_(events),
      life_(env.random.Next()),
      link_(env, options.link, std::move(where), 0, "scheduler", *this) {}

SchedulerLink::~SchedulerLink() { env_.timers.Cancel(report_timer_); }

void SchedulerLink::Start(const std::string& address) {
  address_ = address;
  link_.Start();
}

void SchedulerLink::Stop(const Status& why) {
  env_.timers.Cancel(std::exchange(report_timer_, {}));
  link_.Stop(why);
}

wire::pb::Hello SchedulerLink::MakeHello(std::uint32_t) {
  wire::pb::Hello hello;
  hello.set_job(options_.job);
  hello.set_role(wire::pb::ROLE_SERVER);
  hello.set_life(life_);
  hello.set_incarnation(welcomed_ ? 1 : 0);
  hello.set_server(options_.server);
  hello.set_shard(options_.shard);
  hello.set_shards(options_.shards);
  hello.set_listen(address_);
  return hello;
}

void SchedulerLink::OnUp(std::uint32_t, const wire::pb::Welcome& welcome) {
  if (const Status reached = CheckReach(welcome.host_key()); !reached.ok()) return events_.OnEnd(reached);
  welcomed_ = true;
  place_ = {ShardId(welcome.id()), ServerId(options_.server), welcome.job().seed()};
  Report();
}

// A scheduler on another machine hands `address_` to workers there. A loopback address leads them to their
// own machine.
Status SchedulerLink::CheckReach(const std::string& scheduler_host) const {
  const std::string_view here = env_.transport.Host();
  const bool remote = !scheduler_host.empty() && !here.empty() && scheduler_host != here;
  if (!remote || !IsLoopbackHost(HostOfAddress(address_))) return Status::Ok();
  return InvalidArgument(
      "server {} listens at {}, which only this machine can reach, and the scheduler at {} is on another; "
      "wanted the address by which workers reach this machine: --listen HOST:0 --bind-any",
      options_.server, address_, options_.scheduler);
}

void SchedulerLink::OnDown(std::uint32_t, const Status& why) {
  env_.timers.Cancel(std::exchange(report_timer_, {}));
  env_.log.Write(LogLevel::kWarning, fmt::format("scheduler lost, reconnecting: {}", why.message()));
}

Result<Landing> SchedulerLink::OnFrameStart(std::uint32_t, const FrameHead& head,
                                            std::span<const std::byte>) {
  return Protocol("{} from the scheduler with a payload of {} bytes, wanted none",
                  wire::KindName(static_cast<wire::Kind>(head.kind)), head.payload_bytes);
}

void SchedulerLink::OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte> body,
                            Landing&&) {
  // A shard that cannot follow the scheduler would hold up the job: it says why and ends.
  if (const Status taken = Take(static_cast<wire::Kind>(head.kind), body); !taken.ok()) events_.OnEnd(taken);
}

Status SchedulerLink::Take(wire::Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case wire::Kind::kRoster: {
      google::protobuf::Arena arena;  // of a large job there are many members
      auto& roster = *google::protobuf::Arena::CreateMessage<wire::pb::Roster>(&arena);
      LW_RETURN_IF_ERROR(ParseControl(kind, body, roster));
      events_.OnRoster(roster);
      return Status::Ok();
    }
    case wire::Kind::kTableMap: {
      wire::pb::TableMap map;
      LW_RETURN_IF_ERROR(ParseControl(kind, body, map));
      return events_.OnTableMap(map);
    }
    case wire::Kind::kCut: {
      wire::pb::Cut cut;
      LW_RETURN_IF_ERROR(ParseControl(kind, body, cut));
      events_.OnCut(cut);
      return Status::Ok();
    }
    case wire::Kind::kJobEnd: {
      wire::pb::JobEnd end;
      LW_RETURN_IF_ERROR(ParseControl(kind, body, end));
      // The job's summary counts what came since the last beat.
      Send(wire::Kind::kReport, events_.MakeReport());
      events_.OnEnd(end.code() == 0 ? Status::Ok() : StatusFromWire(end.code(), end.message()));
      return Status::Ok();
    }
    default:
      return Protocol("{} from the scheduler, wanted Roster, TableMap, Cut or JobEnd", wire::KindName(kind));
  }
}

void SchedulerLink::Report() {
  Send(wire::Kind::kReport, events_.MakeReport());
  report_timer_ = env_.timers.After(options_.link.beat, [this] { Report(); });
}

}  // namespace leeway
