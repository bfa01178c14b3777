#include "calibrate/exchange_costs.h"

#include <algorithm>
#include <memory>

#include "bench/leeway_job.h"
#include "bench/turns.h"

namespace leeway::app {
namespace {

constexpr double kWarmSeconds = 0.05, kSeconds = 0.2;
constexpr std::size_t kSmallBytes = 64, kLargeBytes = 1U << 20;

Result<bench::Turn> Exchange(const std::string& transport, const bench::Shape& shape) {
  bench::LeewayJobOptions options;
  options.transport = transport;
  options.shape = shape;
  LW_ASSIGN_OR_RETURN(const std::unique_ptr<bench::LeewayJob> job, bench::LeewayJob::Start(options));
  LW_RETURN_IF_ERROR(job->Run(kWarmSeconds).status());
  LW_ASSIGN_OR_RETURN(bench::Turn turn, job->Run(kSeconds));
  LW_RETURN_IF_ERROR(job->CheckAndEnd());
  return turn;
}

}  // namespace

Result<ExchangeCosts> MeasureExchange(const std::string& transport) {
  ExchangeCosts costs;
  // Many under way: a server that always has something to do does not spend its time on waiting for it.
  LW_ASSIGN_OR_RETURN(const bench::Turn many, Exchange(transport, {kSmallBytes, 64, 64}));
  costs.per_message_s = many.server_cpu_s / (2 * std::max(many.count, 1.0));  // a push and a pull
  // One at a time: there, and back again.
  LW_ASSIGN_OR_RETURN(const bench::Turn one, Exchange(transport, {kSmallBytes, 64, 1}));
  costs.latency_s = std::max(0.0, one.latency.QuantileUs(0.5) * 1e-6 / 2 - costs.per_message_s);
  // Between processes of one machine the link is what the worker does to get the bytes.
  LW_ASSIGN_OR_RETURN(const bench::Turn large, Exchange(transport, {kLargeBytes, 16, 4}));
  const double bytes = std::max(large.count, 1.0) * static_cast<double>(kLargeBytes);
  costs.bytes_per_second = bytes / std::max(large.cpu_s - large.server_cpu_s, 1e-6);
  costs.per_byte_s = large.server_cpu_s / (2 * bytes);
  return costs;
}

}  // namespace leeway::app
