#include "sync/worker_fit.h"

#include "base/errors.h"
#include "sync/pull_policy.h"

namespace leeway {

Status CheckWorkerFit(const SyncModel& model, std::string_view sync, std::string_view pull,
                      std::string_view exchange, const Registry<ExchangePolicy>& exchanges) {
  const WorkerRule rule = model.ForWorker();
  const Result<PullPolicy> pulls = ParsePullPolicy(pull);
  if (rule.cache_age_max && pulls.ok() && pulls->partial) {
    return InvalidArgument(
        "sync \"{}\" with pull \"{}\": the worker promises that nothing it reads is older than its cache may "
        "be, and "
        "a partial pull reads what is; use pull \"full\", or sync \"ssp\" with it",
        sync, pull);
  }
  const Result<ExchangePolicyPtr> policy = exchanges.MakeFromSpec(exchange);
  if (!policy.ok() || (*policy)->EveryIteration()) return Status::Ok();
  if (rule.cache_age_max) {
    return InvalidArgument(
        "sync \"{}\" with exchange \"{}\": both say when the worker asks for newer values; use exchange "
        "\"every:1\", "
        "or sync \"ssp\" with exchange \"when_stale\"",
        sync, exchange);
  }
  if (rule.unsettled_max) {
    return InvalidArgument(
        "sync \"{}\" with exchange \"{}\": it bounds the pushes that are under way, and gradients that add "
        "up in the "
        "worker are not; use exchange \"every:1\", or sync \"ssp\" with it",
        sync, exchange);
  }
  return Status::Ok();
}

}  // namespace leeway
