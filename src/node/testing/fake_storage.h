// FakeStorage and FakeCompute: a hand-fed disk and a hand-fed thread for one node under test.
//
// A call waits until the test carries it out, oldest first: Step for one, RunAll until none is left (those
// made meanwhile included). `calls` tells what was asked, in order. Folders are not modelled: a file's path
// is its name, and a folder is there while a file is below it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "leeway/storage.h"

namespace leeway::testing {

class FakeStorage final : public Storage {
 public:
  // The node calls these.
  void Create(const std::string& path, std::vector<Pinned> data, Done done) override {
    Submit("create " + path, [this, path, data = std::move(data), done = std::move(done)]() mutable {
      if (files.contains(path)) return done(FailedPrecondition("cannot create \"{}\": File exists", path));
      Write(path, std::move(data), done);
    });
  }
  void Append(const std::string& path, std::vector<Pinned> data, Done done) override {
    Submit("append " + path, [this, path, data = std::move(data), done = std::move(done)]() mutable {
      Write(path, std::move(data), done);
    });
  }
  void Sync(const std::string& path, Done done) override {
    Submit("sync " + path, [this, path, done = std::move(done)] {
      done(!failure.ok() || files.contains(path) ? failure : Missing(path));
    });
  }
  void SyncFolder(const std::string& path, Done done) override {
    Submit("sync folder " + path, [this, done = std::move(done)] { done(failure); });
  }
  void Rename(const std::string& from, const std::string& to, Done done) override {
    Submit("rename " + from + " " + to, [this, from, to, done = std::move(done)] {
      if (!failure.ok()) return done(failure);
      const std::map<std::string, std::vector<std::byte>> moved = Take(from);
      if (moved.empty()) return done(Missing(from));
      for (const auto& [path, data] : moved) files[to + path.substr(from.size())] = data;
      done(Status::Ok());
    });
  }
  void Remove(const std::string& path, Done done) override {
    Submit("remove " + path, [this, path, done = std::move(done)] {
      if (failure.ok()) Take(path);
      done(failure);
    });
  }
  void Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
            std::function<void(Result<std::vector<std::byte>>)> done) override {
    Submit("read " + path, [this, path, offset, bytes, done = std::move(done)] {
      if (!failure.ok()) return done(failure);
      const auto found = files.find(path);
      if (found == files.end()) return done(Missing(path));
      const std::vector<std::byte>& all = found->second;
      const std::uint64_t begin = std::min<std::uint64_t>(offset, all.size());
      const std::uint64_t end = begin + std::min<std::uint64_t>(bytes, all.size() - begin);
      done(std::vector<std::byte>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                  all.begin() + static_cast<std::ptrdiff_t>(end)));
    });
  }
  void Lock(const std::string& path, Done done) override {
    Submit("lock " + path, [this, path, done = std::move(done)] { done(LockAnswer(path)); });
  }
  void CheckUnlocked(const std::string& path, Done done) override {
    Submit("check lock " + path, [this, path, done = std::move(done)] { done(LockAnswer(path)); });
  }
  void List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) override {
    Submit("list " + path, [this, path, done = std::move(done)] {
      if (!failure.ok()) return done(failure);
      std::vector<Entry> entries = EntriesOf(path);
      if (entries.empty()) return done(Missing(path));
      done(std::move(entries));
    });
  }

  // The test calls these. Carries out the oldest call and answers it; false: no call waits.
  bool Step() {
    if (waiting_.empty()) return false;
    const std::function<void()> call = std::move(waiting_.front());
    waiting_.pop_front();
    call();
    return true;
  }
  void RunAll() {
    while (Step()) {
    }
  }
  [[nodiscard]] std::size_t pending() const { return waiting_.size(); }

  std::map<std::string, std::vector<std::byte>> files;  // by path
  std::set<std::string> locked_by_others;               // paths
  std::vector<std::string> calls;                       // "append <path>", "rename <from> <to>", ...
  Status failure;       // not ok: the answer to every call that is carried out, which then does nothing
  Status lock_failure;  // not ok: the answer to every lock

 private:
  static Status Missing(const std::string& path) { return NotFound("no file or folder \"{}\"", path); }
  void Write(const std::string& path, std::vector<Pinned> data, const Done& done) {
    std::vector<std::byte>& file = files[path];
    if (failure.ok()) {
      for (const Pinned& piece : data) file.insert(file.end(), piece.bytes.begin(), piece.bytes.end());
    }
    data.clear();
    done(failure);
  }
  [[nodiscard]] Status LockAnswer(const std::string& path) const {
    if (!failure.ok()) return failure;
    if (!locked_by_others.contains(path)) return lock_failure;
    return FailedPrecondition("cannot lock \"{}\": another process has it: pid 7 on host \"h\"", path);
  }
  void Submit(std::string what, std::function<void()> call) {
    calls.push_back(std::move(what));
    waiting_.push_back(std::move(call));
  }
  // Takes the file, or all below the folder, out.
  std::map<std::string, std::vector<std::byte>> Take(const std::string& path) {
    std::map<std::string, std::vector<std::byte>> taken;
    for (auto at = files.begin(); at != files.end();) {
      if (at->first == path || at->first.starts_with(path + "/")) {
        taken.insert(files.extract(at++));
      } else {
        ++at;
      }
    }
    return taken;
  }
  [[nodiscard]] std::vector<Entry> EntriesOf(const std::string& path) const {
    std::map<std::string, Entry> entries;  // by name
    for (const auto& [file, data] : files) {
      if (!file.starts_with(path + "/")) continue;
      const std::string rest = file.substr(path.size() + 1);
      const std::size_t slash = rest.find('/');
      const std::string name = rest.substr(0, slash);
      const bool folder = slash != std::string::npos;
      entries[name] = {name, folder ? 0 : data.size(), folder};
    }
    std::vector<Entry> sorted;
    for (auto& [name, entry] : entries) sorted.push_back(std::move(entry));
    return sorted;
  }

  std::deque<std::function<void()>> waiting_;
};

class FakeCompute final : public Compute {
 public:
  void Run(std::function<void()> job, std::function<void()> done) override {
    waiting_.emplace_back(std::move(job), std::move(done));
  }

  // Runs the oldest job and its end; false: no job waits.
  bool Step() {
    if (waiting_.empty()) return false;
    const auto [job, done] = std::move(waiting_.front());
    waiting_.pop_front();
    job();
    done();
    return true;
  }
  void RunAll() {
    while (Step()) {
    }
  }
  [[nodiscard]] std::size_t pending() const { return waiting_.size(); }

 private:
  std::deque<std::pair<std::function<void()>, std::function<void()>>> waiting_;
};

}  // namespace leeway::testing
