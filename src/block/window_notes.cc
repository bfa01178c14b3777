#include "block/window_notes.h"

namespace leeway {

void WindowNotes::Add(const Note& note) {
  Drop(note.from.worker);
  notes_[note.from.worker] = note;
  order_.insert({note.iteration, note.from.worker});
}

void WindowNotes::Drop(WorkerId worker) {
  if (notes_.empty()) return;  // asked after every push
  const auto found = notes_.find(worker);
  if (found == notes_.end()) return;
  order_.erase({found->second.iteration, worker});
  notes_.erase(found);
}

void WindowNotes::Drop(MemberKey life) {
  if (notes_.empty()) return;
  const auto found = notes_.find(life.worker);
  if (found != notes_.end() && found->second.from == life) Drop(life.worker);
}

std::optional<WindowNotes::Note> WindowNotes::TakeBelow(Iteration end) {
  if (order_.empty() || order_.begin()->first >= end) return std::nullopt;
  const Note note = notes_.at(order_.begin()->second);
  Drop(note.from.worker);
  return note;
}

}  // namespace leeway
