#include "sim/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace leeway::sim {
namespace {

// Small: thousands of connections come and go in one run, and odd sizes exercise the decoder.
constexpr std::size_t kStagingBytes = 1000;

}  // namespace

ConnectionEnd::ConnectionEnd(ConnectionId its_id, HostId its_host, const void* its_owner, State its_state,
                             TransportEvents* its_events, const EventQueue& queue, TraceHash& trace)
    : id(its_id),
      host(its_host),
      owner(its_owner),
      state(its_state),
      events(its_events),
      queue_(queue),
      trace_(trace) {
  reader_.emplace(static_cast<wire::FrameSink&>(*this), kStagingBytes);
  reader_->SetLimits(FrameLimits{});
}

void ConnectionEnd::Shut() {
  state = State::kClosed;
  events = nullptr;
  out.DropQueued();
  // A reader in the middle of a frame sees the state and gives its landing back itself.
  if (!receiving_) reader_.reset();
}

Status ConnectionEnd::Receive(std::span<const std::byte> bytes) {
  Status status;
  receiving_ = true;
  last_received_ = queue_.now();
  while (!bytes.empty() && state == State::kOpen && status.ok()) {
    const std::span<std::byte> space = reader_->Space();
    const std::size_t n = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), n);
    bytes = bytes.subspan(n);
    status = reader_->Commit(n);
  }
  receiving_ = false;
  if (state == State::kClosed) reader_.reset();
  return state == State::kOpen ? status : Status::Ok();
}

Result<Landing> ConnectionEnd::OnFrameStart(const FrameHead& head, std::span<const std::byte> body) {
  return events->OnFrameStart(id, head, body);
}

void ConnectionEnd::OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) {
  trace_.Frame(queue_.now(), id, head, body, landing);
  events->OnFrame(id, head, body, std::move(landing));
}

}  // namespace leeway::sim
