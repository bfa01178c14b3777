// WindowNotes: the workers whose push was beyond the open iterations, and which are to be told when it fits.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "block/block_events.h"
#include "leeway/ids.h"

namespace leeway {

class WindowNotes {
 public:
  struct Note {
    MemberKey from;
    Seq seq;
    Iteration iteration;
  };

  // Replaces what was noted of this worker.
  void Add(const Note& note);
  void Drop(WorkerId worker);
  // The same, if the note is of exactly this life.
  void Drop(MemberKey life);
  // Removes and returns the note with the lowest iteration, if that is below `end`.
  std::optional<Note> TakeBelow(Iteration end);

 private:
  std::unordered_map<WorkerId, Note> notes_;
  std::set<std::pair<Iteration, WorkerId>> order_;
};

}  // namespace leeway
