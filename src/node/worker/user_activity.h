// UserActivity: whether the user of a worker waits or computes, as far as the owner of the node knows.
#pragma once

#include <optional>

namespace leeway {

class UserActivity {
 public:
  virtual ~UserActivity() = default;
  // Whether the user is in a call that waits, and can do nothing else meanwhile. By default: whether a
  // Sync, Barrier, LeaseBatches, Start, Leave or Finish has not called back.
  [[nodiscard]] virtual std::optional<bool> UserWaits() const { return std::nullopt; }
  // Whether the user may compute while one of its threads waits, since it has several.
  [[nodiscard]] virtual bool UserMayCompute() const { return false; }
};

}  // namespace leeway
