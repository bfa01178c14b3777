#include "sim/sim_storage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace leeway::sim {

SimStorage::~SimStorage() {
  disk_.Detach(this);
  if (calls_.empty()) return;
  queue_.Cancel(event_);
  calls_.front().carry_out();
}

template <typename Answer, typename Reply>
SimStorage::Call SimStorage::Make(std::function<Answer()> work, Reply done) {
  const auto answer = std::make_shared<std::optional<Answer>>();  // shared: by the two halves of the call
  Call call;
  call.carry_out = [work = std::move(work), answer] { answer->emplace(work()); };
  call.answer = [done = std::move(done), answer] { done(std::move(**answer)); };
  return call;
}

void SimStorage::Submit(Call call) {
  if (crashed_) return;
  calls_.push_back(std::move(call));
  if (calls_.size() == 1) StartNext();
}

void SimStorage::StartNext() {
  const Call& call = calls_.front();
  const Duration end = disk_.Occupy(queue_.now(), call.sync, call.bytes ? call.bytes() : 0);
  event_ = queue_.At(end, [this] { Finish(); });
}

void SimStorage::Finish() {
  calls_.front().carry_out();
  // Only the answer is left of it: what it lent is let go before.
  const std::function<void()> answer = std::move(calls_.front().answer);
  calls_.pop_front();
  if (!calls_.empty()) StartNext();
  answer();  // last: it may be the end of this process
}

void SimStorage::OnCrash() {
  if (std::exchange(crashed_, true) || calls_.empty()) return;
  queue_.Cancel(event_);
  const std::deque<Call> calls = std::exchange(calls_, {});
  const Call& first = calls.front();
  std::uint64_t dropped = calls.size() - 1;
  if (first.tear) {
    first.tear();
  } else if (disk_.WasCarriedOut()) {
    first.carry_out();
  } else {
    ++dropped;
  }
  disk_.NoteDropped(dropped);
}

void SimStorage::Append(const std::string& path, std::vector<Pinned> data, Done done) {
  const auto lent = std::make_shared<const std::vector<Pinned>>(std::move(data));  // shared: by the lambdas
  Call call = Make<Status>([this, path, lent] { return disk_.Append(path, *lent); }, std::move(done));
  call.tear = [this, path, lent] { disk_.Tear(path, *lent); };
  call.bytes = [lent] {
    std::uint64_t bytes = 0;
    for (const Pinned& piece : *lent) bytes += piece.bytes.size();
    return bytes;
  };
  Submit(std::move(call));
}

void SimStorage::Sync(const std::string& path, Done done) {
  Call call = Make<Status>([this, path] { return disk_.Sync(path); }, std::move(done));
  call.sync = true;
  Submit(std::move(call));
}

void SimStorage::SyncFolder(const std::string& path, Done done) {
  Call call = Make<Status>([this, path] { return disk_.SyncFolder(path); }, std::move(done));
  call.sync = true;
  Submit(std::move(call));
}

void SimStorage::Rename(const std::string& from, const std::string& to, Done done) {
  Submit(Make<Status>([this, from, to] { return disk_.Rename(from, to); }, std::move(done)));
}

void SimStorage::Remove(const std::string& path, Done done) {
  Submit(Make<Status>([this, path] { return disk_.Remove(path); }, std::move(done)));
}

void SimStorage::Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                      std::function<void(Result<std::vector<std::byte>>)> done) {
  Call call = Make<Result<std::vector<std::byte>>>(
      [this, path, offset, bytes] { return disk_.Read(path, offset, bytes); }, std::move(done));
  call.bytes = [this, path, offset, bytes] {
    const std::uint64_t size = disk_.bytes(path);
    return std::min(bytes, size - std::min(offset, size));
  };
  Submit(std::move(call));
}

void SimStorage::List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) {
  Submit(Make<Result<std::vector<Entry>>>([this, path] { return disk_.List(path); }, std::move(done)));
}

}  // namespace leeway::sim
