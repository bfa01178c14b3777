#include "node/worker/client_state.h"

#include <utility>
#include <vector>

#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "checkpoint/layout.h"
#include "leeway/storage.h"

namespace leeway {

struct ClientState::Writing {
  std::string name, path;
  TimePoint since;
  RankFileHead head;
  RankBytes state;
  EncodedRankFile file;
};

ClientState::ClientState(Env& env, const WorkerOptions& options, Events events)
    : env_(env),
      events_(std::move(events)),
      job_(options.job),
      give_up_after_(options.link.give_up_after),
      keeps_(options.keeps_state) {}
ClientState::~ClientState() = default;

void ClientState::OnCut(const wire::pb::Cut& cut, const WorkerIdentity& self, Iteration now, bool lacks) {
  untold_.OnCut(Iteration(cut.iteration()));
  if (answer_.checkpoint() == cut.checkpoint()) {
    if (!open_ && writing_ == nullptr) Tell();
    return;
  }
  writing_ = nullptr;
  answer_.Clear();
  answer_.set_checkpoint(cut.checkpoint());
  head_ = {job_, cut.checkpoint(), self.worker, self.incarnation, Iteration(0)};
  open_ = cut;
  // A state of later than a common moment has pushes behind it that the blocks of the cut do not hold.
  const bool past = keeps_ && cut.iteration() > 0 && IsPast(cut, now);
  if (past || (cut.exact() && lacks)) {
    answer_.set_late(now.value());
  } else if (!keeps_ || left_) {
    answer_.set_none(true);
    answer_.set_lacks(lacks);
  } else {
    return events_.wanted(Iteration(cut.iteration()));
  }
  Answer();
}

bool ClientState::IsWanted(Iteration now) const { return open_ && now >= Iteration(open_->iteration()); }

void ClientState::Give(Iteration now, RankBytes state, bool lacks) {
  if (!IsWanted(now)) return;
  if (open_->exact() && (lacks || IsPast(*open_, now))) {
    answer_.set_late(now.value());
    return Answer();
  }
  answer_.set_lacks(lacks);
  if (state->empty()) {
    answer_.set_none(true);
    return Answer();
  }
  auto writing = std::make_shared<Writing>();
  head_.iteration = now;
  writing->name = RankFileName(head_.rank, head_.incarnation);
  writing->path = JoinPath(open_->folder(), writing->name);
  writing->since = env_.clock.Now();
  writing->head = head_;
  writing->state = std::move(state);
  open_.reset();
  writing_ = writing;
  events_.wanted(kIterationMax);
  // The checksum of a large state takes a while; training goes on meanwhile.
  const JobSize size{JobSize::Kind::kEncode, writing->state->size()};
  env_.compute.RunSized(
      size, [writing] { writing->file = EncodeRankFile(writing->head, std::move(writing->state)); },
      [this, alive = std::weak_ptr(alive_), writing] {
        if (!alive.expired() && writing_ == writing) Write(writing);
      });
}

void ClientState::Leave(Iteration now) {
  left_ = true;
  if (!open_) return;
  if (open_->exact() && IsPast(*open_, now)) {
    answer_.set_late(now.value());
  } else {
    answer_.set_none(true);
  }
  Answer();
}

bool ClientState::IsPast(const wire::pb::Cut& cut, Iteration now) const {
  const Iteration at(cut.iteration());
  return now > at || (left_ && now == at);
}

std::optional<TimePoint> ClientState::writing_since() const {
  return writing_ == nullptr ? std::nullopt : std::optional(writing_->since);
}

bool ClientState::HoldsUpFinish() const {
  // A disk that does not answer holds nobody up for longer than a peer that does not.
  return writing_ != nullptr && env_.clock.Now() - writing_->since < give_up_after_;
}

void ClientState::Write(const std::shared_ptr<Writing>& writing) {
  const auto first = std::make_shared<Status>();  // shared by the answers: the first error
  env_.storage.Create(writing->path, std::exchange(writing->file.pieces, {}),
                      [first](const Status& appended) { *first = appended; });
  env_.storage.Sync(writing->path,
                    [this, alive = std::weak_ptr(alive_), writing, first](const Status& synced) {
                      if (alive.expired() || writing_ != writing) return;
                      if (first->ok()) *first = synced;
                      if (first->ok()) {
                        answer_.set_file(writing->name);
                        answer_.set_bytes(writing->file.bytes);
                        answer_.set_checksum(writing->file.checksum);
                        answer_.set_iteration(writing->head.iteration.value());
                      } else {
                        answer_.set_error(first->message());
                      }
                      Answer();
                    });
}

void ClientState::Answer() {
  writing_ = nullptr;
  if (std::exchange(open_, std::nullopt)) events_.wanted(kIterationMax);
  Tell();
}

void ClientState::Tell() {
  untold_.Hold(answer_);
  AnswerIfSettled();
  events_.decided();
}

void ClientState::AnswerIfSettled() {
  if (!untold_.holds()) return;
  if (const auto answer = untold_.Take(events_.settled())) events_.answer(*answer);
}

void ClientState::Read(const wire::pb::RankRestore& from, WorkerId rank,
                       std::function<void(const Status&)> done) {
  reading_ = true;
  // One byte more than there should be, so that a file that is too long is found as well.
  env_.storage.Read(
      from.file(), 0, from.bytes() + 1,
      [this, alive = std::weak_ptr(alive_), from, rank,
       done = std::move(done)](const Result<std::vector<std::byte>>& read) {
        if (alive.expired()) return;
        reading_ = false;
        const auto refuse = [&](const Status& why) {
          done(why.WithContext(from.file())
                   .WithContext(fmt::format("the state of rank {} in the checkpoint", rank.value())));
        };
        if (!read.ok()) return refuse(read.status());
        const Result<RankFile> file = DecodeRankFile(*read);
        if (!file.ok()) return refuse(file.status());
        if (file->checksum != from.checksum()) {
          return refuse(InvalidArgument("got checksum {}, wanted {}: it is of another checkpoint",
                                        ChecksumText(file->checksum), ChecksumText(from.checksum())));
        }
        if (file->head.rank != rank) {
          return refuse(InvalidArgument("got the state of rank {}", file->head.rank.value()));
        }
        restored_ = std::make_shared<const std::vector<std::byte>>(file->state.begin(), file->state.end());
        done(Status::Ok());
      });
}

}  // namespace leeway
