// DueCallbacks: the user's callbacks that the event at hand has made due, in their order.
//
// A part adds a callback instead of calling it, so that the user never enters the node in the middle of an
// event. The node runs them at the end of every entry from outside. Thread rule: the node's.
#pragma once

#include <functional>
#include <utility>

#include "base/ring.h"
#include "leeway/status.h"
#include "node/worker/lent_gradient.h"

namespace leeway {

class DueCallbacks {
 public:
  void Later(std::function<void()> callback) {
    due_.push_back({[callback = std::move(callback)](const Status&) { callback(); }, Status::Ok()});
  }
  // An empty `done` is left out.
  void LaterDone(Done done, const Status& status) {
    if (done) due_.push_back({std::move(done), status});
  }
  // A callback may call the node, which comes here again: the outermost run takes what that adds, so
  // callbacks never nest.
  void Run() {
    if (running_) return;
    running_ = true;
    while (!due_.empty()) {
      const Due due = due_.pop_front();
      due.done(due.status);
    }
    running_ = false;
  }

 private:
  struct Due {
    Done done;
    Status status;
  };

  Ring<Due> due_;
  bool running_ = false;
};

}  // namespace leeway
