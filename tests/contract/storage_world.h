// StorageWorld: one Env with files, for the contract that every Storage and Compute keeps.
//
// A world joins the suite with a file <name>_storage_world.cc beside this one that defines a Make function,
// and a row in storage_worlds.def.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leeway/env.h"
#include "leeway/storage.h"

namespace leeway::contract {

class StorageWorld {
 public:
  virtual ~StorageWorld() = default;
  virtual Env& env() = 0;
  // Of another process on the same files, which runs with this one and is not restarted.
  virtual Storage& neighbour() = 0;
  // A path below a folder that is there, empty at the start, and this world's own.
  [[nodiscard]] virtual std::string Path(const std::string& name) = 0;
  // Runs the Env until `done` (asked after every step), or until a limit of the world's own; returns done().
  virtual bool RunUntil(const std::function<bool()>& done) = 0;
  // The Env goes, as when a process ends by itself; another takes its place, on the same files.
  virtual void Restart() = 0;
};

#define LW_STORAGE_WORLD(name, make) std::unique_ptr<StorageWorld> make();
#include "storage_worlds.def"
#undef LW_STORAGE_WORLD

}  // namespace leeway::contract
