#include "transport/local/shared_exchange.h"

#include <atomic>
#include <new>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::size_t kDescriptorsMax = 64;  // that came and have not been named yet

}  // namespace

SharedExchange::SharedExchange(const HostKey& host, SharedArena& arena, std::uint64_t session,
                               std::uint64_t peer_bytes_max)
    : host_(host), arena_(arena), session_(session), peer_(peer_bytes_max) {}

SharedExchange::~SharedExchange() {
  // Before the pins are dropped: a peer that still reads sees this afterwards. The fence keeps later plain
  // stores of the memory's owner behind it.
  if (cell_ == nullptr) return;
  cell_->session.store(~session_, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

Result<std::vector<SharedExchange::Note>> SharedExchange::Greet() {
  cell_memory_ = arena_.Allocate(sizeof(ControlCell), Arena::Use::kSent);
  if (cell_memory_ == nullptr) return ResourceExhausted("no memory for its control cell");
  cell_ = new (cell_memory_.get()) ControlCell;
  cell_->session.store(session_, std::memory_order_relaxed);
  const auto place = arena_.Find({cell_memory_.get(), sizeof(ControlCell)});
  if (!place) {
    const Status why = arena_.unshared();
    return why.ok() ? Unavailable("its control cell lies in no shared memory") : why;
  }
  LW_RETURN_IF_ERROR(MakePipe());
  std::vector<Note> notes;
  Announce(place->region, notes);
  notes.push_back({NoteKind::kPipe, Encode(PipeNote{BytePipe::kMemoryBytes}), pipe_->fd()});
  const GreetingNote greeting{kLocalVersion, host_, place->region, place->offset, session_};
  notes.push_back({NoteKind::kGreeting, Encode(greeting), -1});
  return notes;
}

// In the order of their numbers, which is how the peer counts them.
void SharedExchange::Announce(std::uint32_t region, std::vector<Note>& notes) {
  while (announced_ <= region) {
    const SharedArena::RegionFile file = arena_.FileOf(announced_);
    notes.push_back({NoteKind::kRegion, Encode(RegionNote{announced_, file.bytes}), file.fd});
    ++announced_;
  }
}

void SharedExchange::TakeDescriptor(Descriptor fd) {
  if (descriptors_.size() < kDescriptorsMax) return descriptors_.push_back(std::move(fd));
  broken_ = Protocol("more than {} descriptors came before the notes that name them", kDescriptorsMax);
}

void SharedExchange::LoseDescriptors(std::size_t at_once_max) {
  broken_ = Protocol(
      "descriptors that came were lost: more than {} at once, or this process has none left (ulimit -n)",
      at_once_max);
}

Status SharedExchange::OnNote(NoteKind kind, std::span<const std::byte> body) {
  if (kind == NoteKind::kRegion) {
    LW_ASSIGN_OR_RETURN(const RegionNote note, DecodeRegionNote(body));
    LW_ASSIGN_OR_RETURN(const Descriptor fd, NextDescriptor(fmt::format("region {}", note.region)));
    return peer_.Add(note.region, note.bytes, fd.fd());
  }
  if (kind == NoteKind::kPipe) {
    if (ready()) return Protocol("a pipe after the greeting");
    LW_ASSIGN_OR_RETURN(const PipeNote note, DecodePipeNote(body));
    LW_ASSIGN_OR_RETURN(const Descriptor fd, NextDescriptor("a pipe"));
    // The answer to the greeting says if we have no pipe.
    return MakePipe().ok() ? pipe_->Join(note.bytes, fd.fd()) : Status::Ok();
  }
  if (kind != NoteKind::kGreeting) return Protocol("note of kind {}, wanted 1 to 5", static_cast<int>(kind));
  LW_ASSIGN_OR_RETURN(const GreetingNote note, DecodeGreetingNote(body));
  if (note.version != kLocalVersion) {
    return Protocol("greeting of version {}, wanted {}", note.version, kLocalVersion);
  }
  if (note.host != host_) return Protocol("greeting from another host: its boot id is not ours");
  if (ready()) return Protocol("a second greeting");
  if (why_no_pipe_.ok() && (pipe_ == nullptr || !pipe_->joined()))
    return Protocol("a greeting without a pipe before it");
  LW_ASSIGN_OR_RETURN(
      const std::span<const std::byte> cell,
      peer_.At(note.cell_region, note.cell_offset, sizeof(ControlCell), alignof(ControlCell)));
  peer_session_ = note.session;
  peer_cell_ = reinterpret_cast<const ControlCell*>(cell.data());
  return Status::Ok();
}

Result<Descriptor> SharedExchange::NextDescriptor(std::string_view what) {
  if (descriptors_.empty()) return Protocol("{} came without its descriptor", what);
  Descriptor fd = std::move(descriptors_.front());
  descriptors_.pop_front();
  return fd;
}

Status SharedExchange::MakePipe() {
  if (pipe_ != nullptr || !why_no_pipe_.ok()) return why_no_pipe_;
  Result<std::unique_ptr<BytePipe>> made = BytePipe::Make();
  why_no_pipe_ = made.status();
  if (made.ok()) pipe_ = *std::move(made);
  return why_no_pipe_;
}

bool SharedExchange::Refer(std::span<const Pinned> payload, std::vector<Note>& notes,
                           std::vector<std::byte>& body) {
  if (!ready()) return false;
  pieces_.clear();
  for (const Pinned& piece : payload) {
    const auto place = arena_.Find(piece.bytes);
    if (!place || place->offset % alignof(float) != 0) return false;
    pieces_.push_back({place->region, static_cast<std::uint32_t>(piece.bytes.size()), place->offset});
  }
  Frame& frame = frames_.emplace_back();
  for (std::size_t i = 0; i < payload.size(); ++i) {
    Announce(pieces_[i].region, notes);
    frame.bytes += payload[i].bytes.size();
    // Pieces of one buffer follow each other and share its pin.
    if (payload[i].pin == nullptr || (frame.pins > 0 && pins_.back() == payload[i].pin)) continue;
    pins_.push_back(payload[i].pin);
    ++frame.pins;
  }
  pinned_bytes_ += frame.bytes;
  AppendTrailer(pieces_, body);
  return true;
}

bool SharedExchange::Collect() {
  if (frames_.empty()) return false;
  // A peer may write anything there: it can give back no more than it was given.
  const std::uint64_t consumed = peer_cell_->consumed.load(std::memory_order_acquire);
  if (const std::uint64_t given = collected_ + frames_.size(); consumed > given && broken_.ok())
    broken_ =
        Protocol("it is done with {} shared payloads, wanted at most the {} it was sent", consumed, given);
  bool any = false;
  while (!frames_.empty() && collected_ < consumed) {
    const Frame frame = frames_.front();
    frames_.pop_front();
    ++collected_;
    pinned_bytes_ -= frame.bytes;
    // Each leaves the queue before it is dropped: its owner may send more then.
    for (std::size_t i = 0; i < frame.pins; ++i) {
      const std::shared_ptr<const void> pin = std::move(pins_.front());
      pins_.pop_front();
    }
    any = true;
  }
  return any;
}

Status SharedExchange::Resolve(std::span<const std::byte>& body, std::uint64_t payload_bytes,
                               std::vector<std::span<const std::byte>>& views) {
  if (!ready()) return Protocol("a shared payload before the greeting");
  LW_RETURN_IF_ERROR(TakeTrailer(body, payload_bytes, pieces_));
  views.reserve(pieces_.size());
  for (const SharedPiece& piece : pieces_) {
    LW_ASSIGN_OR_RETURN(const std::span<const std::byte> view,
                        peer_.At(piece.region, piece.offset, piece.bytes, alignof(float)));
    views.push_back(view);
  }
  return Status::Ok();
}

void SharedExchange::Consumed() {
  cell_->consumed.store(cell_->consumed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace leeway
