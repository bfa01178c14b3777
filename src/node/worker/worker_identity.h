// WorkerIdentity: who this worker is, and how it pulls now.
#pragma once

#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway {

struct WorkerIdentity {
  WorkerId worker = kNoWorker;  // kNoWorker: the scheduler has not said yet
  Incarnation incarnation;
  bool observer = false;
  Epoch epoch_min;

  // An error if a frame is for another worker, or for another life of this one.
  [[nodiscard]] Status CheckAddressee(WorkerId to, Incarnation life) const;
};

}  // namespace leeway
