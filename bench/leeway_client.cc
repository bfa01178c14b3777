#include "leeway_client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/errors.h"

namespace leeway::bench {
namespace {

std::uint64_t ClientNowNs() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

std::uint64_t FirstBlock(std::uint64_t blocks, std::uint32_t index, std::uint32_t workers) {
  return blocks * index / workers;
}

std::uint64_t PushesTo(std::uint64_t block, std::uint64_t blocks, std::uint64_t first, std::uint64_t pairs) {
  const std::uint64_t place = (block + blocks - first) % blocks;  // in this worker's order
  return pairs / blocks + (place < pairs % blocks ? 1 : 0);
}

LeewayClient::LeewayClient(const ClientOptions& options)
    : options_(options),
      shape_(options.shape),
      elements_(shape_.block_bytes / sizeof(float)),
      first_(FirstBlock(shape_.blocks, options.index, options.workers)),
      pairs_(shape_.in_flight) {}

Result<std::unique_ptr<LeewayClient>> LeewayClient::Join(const ClientOptions& options) {
  std::unique_ptr<LeewayClient> client(new LeewayClient(options));
  LW_RETURN_IF_ERROR(client->Start());
  return client;
}

Status LeewayClient::Start() {
  WorkerOptions options;
  options.scheduler = options_.scheduler;
  options.link.transport = options_.transport;
  options.link.secret = options_.secret;
  LW_ASSIGN_OR_RETURN(worker_, Worker::Initialize(options));
  gradients_ = worker_->Allocate(elements_ * shape_.blocks);
  values_ = worker_->Allocate(elements_ * shape_.blocks);
  std::fill_n(gradients_.get(), elements_ * shape_.blocks, 1.0F);
  for (std::size_t i = 0; i < shape_.blocks; ++i) {
    TableSpec spec;
    spec.name = fmt::format("block{}", i);
    spec.shape = {static_cast<std::int64_t>(elements_)};
    spec.clock = TableClock::kOwn;
    spec.sync = "asp";
    spec.optimizer = "sum";
    LW_ASSIGN_OR_RETURN(const TableId table, worker_->CreateTable(spec));
    tables_.push_back(table);
  }
  LW_RETURN_IF_ERROR(worker_->Start());
  if (options_.index == 0) {
    for (std::size_t i = 0; i < shape_.blocks; ++i)
      LW_RETURN_IF_ERROR(worker_->Broadcast(tables_[i], Of(values_, i)));
  }
  // A block without values loses pushes.
  return worker_->Barrier("initialized");
}

Status LeewayClient::Begin(std::uint64_t n) {
  Pair& pair = pairs_[n % shape_.in_flight];
  const std::uint64_t block = (first_ + n) % shape_.blocks;
  const TableId table = tables_[block];
  if (n % shape_.looks_every() == 0) pair.began_ns = ClientNowNs();
  LW_ASSIGN_OR_RETURN(pair.ticket, options_.pulls
                                       ? worker_->PushPull(table, Of(gradients_, block), Of(values_, block))
                                       : worker_->Push(table, Of(gradients_, block)));
  return Status::Ok();
}

Status LeewayClient::Finish(std::uint64_t n, LatencyHistogram& latency) {
  const Pair& pair = pairs_[n % shape_.in_flight];
  LW_RETURN_IF_ERROR(worker_->Wait(pair.ticket));
  if (n % shape_.looks_every() == 0) latency.Note(ClientNowNs() - pair.began_ns);
  return Status::Ok();
}

Result<std::uint64_t> LeewayClient::Run(double seconds, LatencyHistogram& latency) {
  const std::uint64_t before = finished_;
  const std::uint64_t end_ns = ClientNowNs() + static_cast<std::uint64_t>(seconds * 1e9);
  while ((finished_ - before) % shape_.looks_every() != 0 || ClientNowNs() < end_ns) {
    while (begun_ - finished_ < shape_.in_flight) LW_RETURN_IF_ERROR(Begin(begun_++));
    LW_RETURN_IF_ERROR(Finish(finished_++, latency));
  }
  while (finished_ < begun_) LW_RETURN_IF_ERROR(Finish(finished_++, latency));
  return finished_ - before;
}

Status LeewayClient::Check(std::span<const std::uint64_t> pairs) {
  for (std::uint64_t i = 0; i < shape_.blocks; ++i) {
    std::uint64_t pushes = 0;
    for (std::uint32_t w = 0; w < pairs.size(); ++w)
      pushes += PushesTo(i, shape_.blocks, FirstBlock(shape_.blocks, w, options_.workers), pairs[w]);
    LW_ASSIGN_OR_RETURN(const Ticket pull, worker_->Pull(tables_[i], Of(values_, i)));
    LW_RETURN_IF_ERROR(worker_->Wait(pull));
    const auto wanted = static_cast<float>(std::min<std::uint64_t>(pushes, 1ULL << 24));
    for (const float got : Of(values_, i)) {
      if (got != wanted)
        return Internal("block {} of the bench: got a value of {}, wanted {}", i, got, wanted);
    }
  }
  return Status::Ok();
}

}  // namespace leeway::bench
