#include "raw_job.h"

#include "base/errors.h"
#include "cpu.h"

namespace leeway::bench {

Result<std::unique_ptr<RawJob>> RawJob::Start(RawKind kind, const Shape& shape, CorePlan cores) {
  auto job = std::make_unique<RawJob>();
  job->servers_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
    PinToCore(ServerCore(cores, 0));
    const RawListener listener = RawListen(kind);
    parent.Tell(listener.address);
    RawServe(listener, shape);
    return 0;
  }));
  LW_ASSIGN_OR_RETURN(const std::string address, job->servers_[0]->Hear());
  job->clients_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
    PinToCore(ClientCore(cores, 0));
    RawClient client(kind, address, shape);
    return Obey(parent, RunOrder([&](double seconds, LatencyHistogram& latency) -> Result<std::uint64_t> {
                  return client.Run(seconds, latency);
                }));
  }));
  LW_RETURN_IF_ERROR(HearAll(job->clients_, "ready"));
  return job;
}

}  // namespace leeway::bench
