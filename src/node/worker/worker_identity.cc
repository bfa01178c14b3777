#include "node/worker/worker_identity.h"

#include "base/errors.h"

namespace leeway {

Status WorkerIdentity::CheckAddressee(WorkerId to, Incarnation life) const {
  if (to == worker && life == incarnation) return Status::Ok();
  return Protocol("a frame for worker {} incarnation {}, wanted worker {} incarnation {}", to.value(),
                  life.value(), worker.value(), incarnation.value());
}

}  // namespace leeway
