#include "sim/sim_storage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace leeway::sim {

SimStorage::~SimStorage() {
  disk_.Detach(this);
  if (!calls_.empty()) {
    queue_.Cancel(event_);
    calls_.front().carry_out();
  }
  Unlock();
}

void SimStorage::Unlock() {
  disk_.Unlock(this);
  if (mount_.disk != nullptr) mount_.disk->Unlock(this);
}

template <typename Answer, typename Reply>
SimStorage::Call SimStorage::Make(std::function<Answer()> work, Reply done) {
  const auto answer = std::make_shared<std::optional<Answer>>();  // shared: by the two halves of the call
  Call call;
  call.carry_out = [work = std::move(work), answer] { answer->emplace(work()); };
  call.answer = [done = std::move(done), answer] { done(std::move(**answer)); };
  return call;
}

void SimStorage::Submit(Call call, Disk& disk) {
  if (crashed_) return;
  call.disk = &disk;
  calls_.push_back(std::move(call));
  if (calls_.size() == 1) StartNext();
}

void SimStorage::StartNext() {
  const Call& call = calls_.front();
  const Duration end = call.disk->Occupy(queue_.now(), call.sync, call.bytes ? call.bytes() : 0);
  event_ = queue_.At(end, [this] { Finish(); });
}

void SimStorage::Finish() {
  calls_.front().carry_out();
  // Only the answer is left of the call: it releases its pins before.
  const std::function<void()> answer = std::move(calls_.front().answer);
  calls_.pop_front();
  if (!calls_.empty()) StartNext();
  answer();  // last: it may end this process
}

void SimStorage::OnCrash() {
  if (std::exchange(crashed_, true)) return;
  if (!calls_.empty()) DropCalls();
  Unlock();
}

void SimStorage::DropCalls() {
  queue_.Cancel(event_);
  const std::deque<Call> calls = std::exchange(calls_, {});
  const Call& first = calls.front();
  std::uint64_t dropped = calls.size() - 1;
  if (first.tear) {
    first.tear();
  } else if (first.disk->WasCarriedOut()) {
    first.carry_out();
  } else {
    ++dropped;
  }
  first.disk->NoteDropped(dropped);
}

void SimStorage::Create(const std::string& path, std::vector<Pinned> data, Done done) {
  Write(path, std::move(data), FileTree::IfThere::kError, std::move(done));
}

void SimStorage::Append(const std::string& path, std::vector<Pinned> data, Done done) {
  Write(path, std::move(data), FileTree::IfThere::kAppend, std::move(done));
}

void SimStorage::Write(const std::string& path, std::vector<Pinned> data, FileTree::IfThere if_there,
                       Done done) {
  Disk& disk = DiskOf(path);
  const auto lent = std::make_shared<const std::vector<Pinned>>(std::move(data));  // shared: by the lambdas
  Call call = Make<Status>([&disk, path, lent, if_there] { return disk.Write(path, *lent, if_there); },
                           std::move(done));
  call.tear = [&disk, path, lent, if_there] { disk.Tear(path, *lent, if_there); };
  call.bytes = [lent] {
    std::uint64_t bytes = 0;
    for (const Pinned& piece : *lent) bytes += piece.bytes.size();
    return bytes;
  };
  Submit(std::move(call), disk);
}

void SimStorage::Sync(const std::string& path, Done done) {
  Disk& disk = DiskOf(path);
  Call call = Make<Status>([&disk, path] { return disk.Sync(path); }, std::move(done));
  call.sync = true;
  Submit(std::move(call), disk);
}

void SimStorage::SyncFolder(const std::string& path, Done done) {
  Disk& disk = DiskOf(path);
  Call call = Make<Status>([&disk, path] { return disk.SyncFolder(path); }, std::move(done));
  call.sync = true;
  Submit(std::move(call), disk);
}

void SimStorage::Rename(const std::string& from, const std::string& to, Done done) {
  Disk& disk = DiskOf(from);
  Submit(Make<Status>([&disk, from, to] { return disk.Rename(from, to); }, std::move(done)), disk);
}

void SimStorage::Remove(const std::string& path, Done done) {
  Disk& disk = DiskOf(path);
  Submit(Make<Status>([&disk, path] { return disk.Remove(path); }, std::move(done)), disk);
}

void SimStorage::Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                      std::function<void(Result<std::vector<std::byte>>)> done) {
  Disk& disk = DiskOf(path);
  Call call = Make<Result<std::vector<std::byte>>>(
      [&disk, path, offset, bytes] { return disk.Read(path, offset, bytes); }, std::move(done));
  call.bytes = [&disk, path, offset, bytes] {
    const std::uint64_t size = disk.bytes(path);
    return std::min(bytes, size - std::min(offset, size));
  };
  Submit(std::move(call), disk);
}

void SimStorage::Lock(const std::string& path, Done done) {
  Disk& disk = DiskOf(path);
  Submit(Make<Status>([this, &disk, path] { return disk.Lock(path, this); }, std::move(done)), disk);
}

void SimStorage::CheckUnlocked(const std::string& path, Done done) {
  Disk& disk = DiskOf(path);
  Submit(Make<Status>([this, &disk, path] { return disk.CheckUnlocked(path, this); }, std::move(done)), disk);
}

void SimStorage::List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) {
  Disk& disk = DiskOf(path);
  Submit(Make<Result<std::vector<Entry>>>([&disk, path] { return disk.List(path); }, std::move(done)), disk);
}

}  // namespace leeway::sim
