#include "launch/stream_output.h"

namespace leeway::app {

StreamOutput::StreamOutput(Screen& screen, StreamOptions options)
    : screen_(screen),
      options_(std::move(options)),
      splitter_([this](std::string_view text) { OnLine(text); },
                [this](std::string_view text) { OnRedrawn(text); }) {}

void StreamOutput::Add(std::string_view bytes, Clock::time_point now) {
  now_ = now;
  splitter_.Add(bytes);
}

void StreamOutput::Tick(Clock::time_point now) {
  now_ = now;
  ShowDelayed(now);
  if (pending_ && now >= redraw_at_) ShowPending();
}

void StreamOutput::Finish(Clock::time_point now) {
  now_ = now;
  splitter_.Finish();
  screen_.EndRedraw(options_.key);
}

void StreamOutput::OnLine(std::string_view text) {
  screen_.EndRedraw(options_.key);
  pending_.reset();
  const bool shown = !redrawn_.empty() && redrawn_ == text;  // a redrawn line that ends as it stands
  redrawn_.clear();
  if (shown) return;
  if (!options_.last_words.empty() && text.starts_with(options_.last_words)) {
    last_words_ = text.substr(options_.last_words.size());
    return;
  }
  if (options_.delay.count() > 0) {
    delayed_.emplace_back(now_ + options_.delay, text);
  } else {
    Show(text);
  }
}

void StreamOutput::OnRedrawn(std::string_view text) {
  if (screen_.CanRedraw(options_.fd))
    return screen_.Redraw(options_.key, options_.prefix + std::string(text));
  if (text.find_first_not_of(' ') == std::string_view::npos) return;  // cleared, to be drawn anew
  if (text != redrawn_) pending_ = text;
  if (pending_ && now_ >= redraw_at_) ShowPending();
}

void StreamOutput::ShowPending() {
  redrawn_ = std::move(*pending_);
  pending_.reset();
  redraw_at_ = now_ + kRedrawEvery;
  Show(redrawn_);
}

void StreamOutput::ShowDelayed(Clock::time_point until) {
  for (; !delayed_.empty() && delayed_.front().first <= until; delayed_.pop_front())
    Show(delayed_.front().second);
}

void StreamOutput::Show(std::string_view text) {
  screen_.Line(options_.fd, options_.prefix, text);
  shown_line_ = screen_.lines();
  tail_.emplace_back(text);
  if (tail_.size() > kTailLines) tail_.pop_front();
}

}  // namespace leeway::app
