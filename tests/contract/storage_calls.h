// StorageCalls: the calls of a Storage for tests, each run to its answer; and a watch over the rule that no
// answer comes from inside a call.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "storage_world.h"

namespace leeway::contract {

using Text = std::shared_ptr<const std::string>;  // shared: lent to appends, watched by the test
inline Text Lend(std::string text) { return std::make_shared<const std::string>(std::move(text)); }
inline Pinned PinnedText(const Text& text) { return {std::as_bytes(std::span(*text)), text}; }

class StorageCalls {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  explicit StorageCalls(StorageWorld& world) : world_(world) {}

  Status Create(const std::string& path, const std::string& text) {
    return Answer<Status>([&](auto done) { storage().Create(path, {PinnedText(Lend(text))}, done); });
  }
  Status Append(const std::string& path, const std::string& text) {
    return Answer<Status>([&](auto done) { storage().Append(path, {PinnedText(Lend(text))}, done); });
  }
  Status Sync(const std::string& path) {
    return Answer<Status>([&](auto done) { storage().Sync(path, done); });
  }
  Status SyncFolder(const std::string& path) {
    return Answer<Status>([&](auto done) { storage().SyncFolder(path, done); });
  }
  Status Rename(const std::string& from, const std::string& to) {
    return Answer<Status>([&](auto done) { storage().Rename(from, to, done); });
  }
  Status Lock(const std::string& path) {
    return Answer<Status>([&](auto done) { storage().Lock(path, done); });
  }
  Status LockNextDoor(const std::string& path) {
    return Answer<Status>([&](auto done) { world_.neighbour().Lock(path, done); });
  }
  Status CheckUnlocked(const std::string& path) {
    return Answer<Status>([&](auto done) { storage().CheckUnlocked(path, done); });
  }
  Status CheckUnlockedNextDoor(const std::string& path) {
    return Answer<Status>([&](auto done) { world_.neighbour().CheckUnlocked(path, done); });
  }
  Status RemoveNextDoor(const std::string& path) {
    return Answer<Status>([&](auto done) { world_.neighbour().Remove(path, done); });
  }
  Status Remove(const std::string& path) {
    return Answer<Status>([&](auto done) { storage().Remove(path, done); });
  }
  Result<std::string> Read(const std::string& path, std::uint64_t offset = 0, std::uint64_t bytes = kAll) {
    using Got = Result<std::vector<std::byte>>;
    const Got got = Answer<Got>([&](auto done) { storage().Read(path, offset, bytes, done); });
    if (!got.ok()) return got.status();
    return std::string(reinterpret_cast<const char*>(got->data()), got->size());
  }
  // The contents of the file, or the error in words.
  std::string Content(const std::string& path) {
    const Result<std::string> got = Read(path);
    return got.ok() ? *got : got.status().ToString();
  }
  Result<std::vector<Storage::Entry>> List(const std::string& path) {
    using Got = Result<std::vector<Storage::Entry>>;
    return Answer<Got>([&](auto done) { storage().List(path, done); });
  }

 private:
  Storage& storage() { return world_.env().storage; }

  template <typename T, typename Call>
  T Answer(Call call) {
    // shared: the answer may come after a wait that ran into its limit
    const auto answer = std::make_shared<std::optional<T>>();
    call([answer](T got) { answer->emplace(std::move(got)); });
    EXPECT_FALSE(answer->has_value()) << "an answer came from inside a call";
    if (!world_.RunUntil([&] { return answer->has_value(); })) return Internal("the call was not answered");
    return std::move(**answer);
  }

  StorageWorld& world_;
};

}  // namespace leeway::contract
