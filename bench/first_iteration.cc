#include "first_iteration.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/errors.h"
#include "cpu.h"
#include "leeway/worker.h"
#include "leeway_job.h"
#include "range.h"
#include "transport/stream/carrier.h"
#include "turns.h"

namespace leeway::bench {
namespace {

constexpr std::uint32_t kModelBlockBytes = 4U << 20;
constexpr std::uint64_t kModelBytesMin = kModelTables * sizeof(float), kModelBytesMax = 8ULL << 30;
constexpr std::chrono::minutes kTurnMax{5};
constexpr int kModelCores = 2;

// Of the clock that all processes share.
std::int64_t SharedNowNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// When a process began and ended its part.
std::string Times(std::int64_t began, std::int64_t ended) { return fmt::format("{} {}", began, ended); }

// Value `i` of table `t`: other than its neighbours', other than the memory's before.
float ValueAt(std::size_t t, std::size_t i) { return static_cast<float>(t + 1) + static_cast<float>(i % 7); }

// A worker that has joined: its tables, their memory, and of rank 0 the values.
class ModelWorker {
 public:
  static Result<std::unique_ptr<ModelWorker>> Join(const ServerProcesses& servers,
                                                   const FirstIterationOptions& options, std::uint32_t rank) {
    auto self = std::make_unique<ModelWorker>();
    WorkerOptions worker_options;
    worker_options.scheduler = servers.scheduler();
    worker_options.link.secret = servers.secret();
    worker_options.link.transport = options.transport;
    worker_options.rank = rank;
    LW_ASSIGN_OR_RETURN(self->worker_, Worker::Initialize(worker_options));
    self->elements_ = options.model_bytes / kModelTables / sizeof(float);
    for (std::size_t t = 0; t < kModelTables; ++t) {
      auto& buffers = self->buffers_.emplace_back();
      for (auto& buffer : buffers) buffer = self->worker_->Allocate(self->elements_);
      if (rank != 0) continue;
      const auto& values = self->values_.emplace_back(self->worker_->Allocate(self->elements_));
      for (std::size_t i = 0; i < self->elements_; ++i) values.get()[i] = ValueAt(t, i);
    }
    // A server makes the memory of tables as soon as it hears of them. Here that is when all ranks are ready
    // to begin, and not by seconds before the one that has the values.
    LW_RETURN_IF_ERROR(self->worker_->Barrier("memory"));
    for (std::size_t t = 0; t < kModelTables; ++t) {
      TableSpec spec;
      spec.name = fmt::format("table{}", t);
      spec.shape = {static_cast<std::int64_t>(self->elements_)};
      spec.optimizer = "sgd";
      LW_ASSIGN_OR_RETURN(
          const TableId table,
          self->worker_->CreateTable(spec, {self->buffers_[t][0].get(), self->buffers_[t][1].get()}));
      self->tables_.push_back(table);
    }
    LW_RETURN_IF_ERROR(self->worker_->Start());
    return self;
  }

  // Gives the values if it has them, and waits until it can use all tables.
  Result<std::string> Go() {
    const std::int64_t began = SharedNowNs();
    for (std::size_t t = 0; t < values_.size(); ++t)
      LW_RETURN_IF_ERROR(worker_->Broadcast(tables_[t], {values_[t].get(), elements_}, values_[t]));
    std::vector<std::span<const float>> synced;
    for (const TableId table : tables_) {
      LW_ASSIGN_OR_RETURN(const std::span<const float> values, worker_->Sync(table));
      synced.push_back(values);
    }
    const std::int64_t ended = SharedNowNs();
    for (std::size_t t = 0; t < synced.size(); ++t) {
      for (std::size_t i = 0; i < elements_; i += 1021) {
        if (synced[t][i] != ValueAt(t, i)) {
          return Internal("value {} of table {}: got {}, wanted {}", i, t, synced[t][i], ValueAt(t, i));
        }
      }
    }
    return Times(began, ended);
  }

 private:
  std::size_t elements_ = 0;
  std::vector<TableId> tables_;
  std::vector<std::array<std::shared_ptr<float>, 2>> buffers_;
  std::vector<std::shared_ptr<float>> values_;
  std::unique_ptr<Worker> worker_;  // last: its I/O thread uses the buffers
};

// Seconds from the first that began to the last that ended. `first_alone`: the first child's beginning
// counts.
Result<double> Go(const Children& children, bool first_alone) {
  for (const auto& child : children) LW_RETURN_IF_ERROR(child->Tell("go"));
  std::int64_t from = 0, to = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    LW_ASSIGN_OR_RETURN(const std::string line, children[i]->Hear(kTurnMax));
    std::istringstream words(line);
    std::int64_t began = 0, ended = 0;
    if (!(words >> began >> ended)) return Internal("got \"{}\", wanted two times", line);
    if (i == 0 || (!first_alone && began < from)) from = began;
    to = std::max(to, ended);
  }
  return static_cast<double>(to - from) * 1e-9;
}

Result<double> LeewayTurn(const FirstIterationOptions& options) {
  JobOptions job;
  job.workers = options.workers;
  job.servers = options.servers;
  job.block_bytes = kModelBlockBytes;
  LW_ASSIGN_OR_RETURN(
      const ServerProcesses servers,
      ServerProcesses::Start(job, options.transport, [](std::uint32_t) { PinToCores(kModelCores); }));
  // Ends before the servers do; nobody needs the model any more, so nobody says goodbye.
  Children workers;
  for (std::uint32_t rank = 0; rank < options.workers; ++rank) {
    workers.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      PinToCores(kModelCores);
      const Result<std::unique_ptr<ModelWorker>> worker = ModelWorker::Join(servers, options, rank);
      if (!worker.ok()) return Fail(parent, worker.status());
      return Obey(parent, {{"go", [&](const std::string&) { return (*worker)->Go(); }}});
    }));
  }
  LW_RETURN_IF_ERROR(HearAll(workers, "ready", kTurnMax));
  return Go(workers, /*first_alone=*/true);
}

// The model that is copied, which the processes share.
class SharedModel {
 public:
  explicit SharedModel(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (data_ != MAP_FAILED) std::memset(data_, 1, bytes_);
  }
  ~SharedModel() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;

  // Memory for a copy, which nobody has touched. The process ends with it.
  [[nodiscard]] void* Fresh() const {
    return mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  // Block after block to `to`.
  Result<std::string> Copy(void* to) const {
    if (to == MAP_FAILED || data_ == MAP_FAILED)
      return ResourceExhausted("no memory for a copy of the model, {} bytes", bytes_);
    const std::int64_t began = SharedNowNs();
    for (std::size_t at = 0; at < bytes_; at += kModelBlockBytes) {
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(data_) + at,
                  std::min<std::size_t>(kModelBlockBytes, bytes_ - at));
    }
    const std::int64_t ended = SharedNowNs();
    if (std::memcmp(to, data_, bytes_) != 0) return Internal("the copy of the model is not the model");
    return Times(began, ended);
  }

 private:
  const std::size_t bytes_;
  void* const data_;
};

struct CopySeconds {
  double fresh = 0, touched = 0;
};

// Into fresh memory, and once more into the same.
Result<CopySeconds> CopyTurn(const SharedModel& model, std::uint32_t processes) {
  Children copiers;
  for (std::uint32_t i = 0; i < processes; ++i) {
    copiers.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      PinToCores(kModelCores);
      void* const to = model.Fresh();
      return Obey(parent, {{"go", [&](const std::string&) { return model.Copy(to); }}});
    }));
  }
  LW_RETURN_IF_ERROR(HearAll(copiers, "ready"));
  CopySeconds seconds;
  LW_ASSIGN_OR_RETURN(seconds.fresh, Go(copiers, /*first_alone=*/false));
  LW_ASSIGN_OR_RETURN(seconds.touched, Go(copiers, /*first_alone=*/false));
  return seconds;
}

}  // namespace

Status Check(const FirstIterationOptions& options) {
  LW_RETURN_IF_ERROR(ParseCarrier(options.transport).status());
  if (options.model_bytes < kModelBytesMin || options.model_bytes > kModelBytesMax ||
      options.model_bytes % kModelBytesMin != 0) {
    return InvalidArgument("model bytes: got {}, wanted a multiple of {} up to {}", options.model_bytes,
                           kModelBytesMin, kModelBytesMax);
  }
  LW_RETURN_IF_ERROR(CheckRange("workers", options.workers, 1, 64));
  LW_RETURN_IF_ERROR(CheckRange("servers", options.servers, 1, 64));
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 50));
  return Status::Ok();
}

Result<FirstIterationReport> RunFirstIteration(const FirstIterationOptions& options) {
  LW_RETURN_IF_ERROR(Check(options));
  const SharedModel model(options.model_bytes);
  // A job begins only once, so each turn is one of its own; what the machine has to get used to is the
  // copy's.
  LW_RETURN_IF_ERROR(CopyTurn(model, options.workers).status());
  std::vector<double> leeway_s, copy_s, touched_copy_s;
  for (std::uint32_t i = 0; i < options.repeats; ++i) {
    for (std::uint32_t k = 0; k < 2; ++k) {
      if ((i + k) % 2 == 0) {
        LW_ASSIGN_OR_RETURN(const double seconds, LeewayTurn(options));
        leeway_s.push_back(seconds);
      } else {
        LW_ASSIGN_OR_RETURN(const CopySeconds seconds, CopyTurn(model, options.workers));
        copy_s.push_back(seconds.fresh);
        touched_copy_s.push_back(seconds.touched);
      }
    }
  }
  return FirstIterationReport{.options = options,
                              .leeway_s = Summary(leeway_s),
                              .copy_s = Summary(copy_s),
                              .touched_copy_s = Summary(touched_copy_s),
                              .ratio = Summary(Ratios(leeway_s, copy_s)),
                              .touched_ratio = Summary(Ratios(leeway_s, touched_copy_s))};
}

}  // namespace leeway::bench
