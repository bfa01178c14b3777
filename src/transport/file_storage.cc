#include "transport/file_storage.h"

#include <memory>
#include <optional>
#include <utility>

namespace leeway {

template <typename Answer, typename Reply>
void FileStorage::Call(std::function<Answer()> work, Reply done) {
  // shared: written by the job, read by its end; never by both at once
  const auto answer = std::make_shared<std::optional<Answer>>();
  thread_.Run([work = std::move(work), answer] { answer->emplace(work()); },
              [answer, done = std::move(done)] { done(std::move(**answer)); });
}

void FileStorage::Create(const std::string& path, std::vector<Pinned> data, Done done) {
  Call<Status>([this, path, data = std::move(data)] { return files_.Create(path, data); }, std::move(done));
}

void FileStorage::Append(const std::string& path, std::vector<Pinned> data, Done done) {
  Call<Status>([this, path, data = std::move(data)] { return files_.Append(path, data); }, std::move(done));
}

void FileStorage::Sync(const std::string& path, Done done) {
  Call<Status>([this, path] { return files_.Sync(path); }, std::move(done));
}

void FileStorage::SyncFolder(const std::string& path, Done done) {
  Call<Status>([this, path] { return files_.SyncFolder(path); }, std::move(done));
}

void FileStorage::Rename(const std::string& from, const std::string& to, Done done) {
  Call<Status>([this, from, to] { return files_.Rename(from, to); }, std::move(done));
}

void FileStorage::Remove(const std::string& path, Done done) {
  Call<Status>([this, path] { return files_.Remove(path); }, std::move(done));
}

void FileStorage::Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                       std::function<void(Result<std::vector<std::byte>>)> done) {
  Call<Result<std::vector<std::byte>>>(
      [this, path, offset, bytes] { return files_.Read(path, offset, bytes); }, std::move(done));
}

void FileStorage::Lock(const std::string& path, Done done) {
  Call<Status>([this, path] { return files_.Lock(path); }, std::move(done));
}

void FileStorage::CheckUnlocked(const std::string& path, Done done) {
  Call<Status>([this, path] { return files_.CheckUnlocked(path); }, std::move(done));
}

void FileStorage::List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) {
  Call<Result<std::vector<Entry>>>([this, path] { return files_.List(path); }, std::move(done));
}

}  // namespace leeway
