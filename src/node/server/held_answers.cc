#include "node/server/held_answers.h"

#include <utility>

#include "base/check.h"

namespace leeway {

HeldAnswers::Frame::~Frame() {
  if (const std::shared_ptr<Lane> at = lane.lock()) owner->OnLeft(*at);
}

void HeldAnswers::OnPull(MemberKey from, BlockId block, Ask ask) {
  std::shared_ptr<Lane>& lane = lanes_[from];
  if (lane == nullptr) {
    lane = std::make_shared<Lane>();
    lane->to = from;
  }
  const auto found = lane->place.find(block);
  if (found == lane->place.end() || lane->waiting.at(found->second).answer.ask >= ask) return;
  Drop(*lane, block);
  ++withdrawn_;
}

void HeldAnswers::Drop(Lane& lane, BlockId block) {
  const auto found = lane.place.find(block);
  if (found == lane.place.end()) return;
  lane.waiting.erase(found->second);
  lane.place.erase(found);
}

void HeldAnswers::Hold(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values) {
  Lane& lane = *lanes_.at(to);
  Drop(lane, answer.block);
  lane.place[answer.block] = lane.next;
  lane.waiting[lane.next++] = {answer, std::move(values)};
  if (lane.under_way < kUnderWayMax) ready_.push_back(to);
}

std::vector<MemberKey> HeldAnswers::TakeReady() { return std::exchange(ready_, {}); }

bool HeldAnswers::TakeFrame(MemberKey to, std::uint64_t bytes_max, wire::Answers& answers,
                            std::vector<Pinned>& payload) {
  const auto found = lanes_.find(to);
  if (found == lanes_.end()) return false;
  Lane& lane = *found->second;
  if (lane.under_way == kUnderWayMax || lane.waiting.empty()) return false;
  answers.worker = to.worker;
  answers.incarnation = to.incarnation;
  answers.entries.clear();
  payload.clear();
  const auto frame = std::make_shared<Frame>();
  std::uint64_t bytes = 0;
  while (!lane.waiting.empty() && answers.entries.size() < wire::kEntriesMax) {
    Held& first = lane.waiting.begin()->second;
    const std::uint64_t size = first.answer.payload_bytes;
    if (bytes > 0 && bytes + size > bytes_max) break;
    answers.entries.push_back(first.answer);
    if (size > 0) payload.push_back({first.values->bytes(), frame});
    frame->values.push_back(std::move(first.values));
    bytes += size;
    Drop(lane, first.answer.block);
  }
  if (payload.empty()) return true;  // nothing that tells when it has left
  ++lane.under_way;
  frame->owner = this;
  frame->lane = found->second;
  return true;
}

void HeldAnswers::OnLeft(Lane& lane) {
  --lane.under_way;
  if (lane.waiting.empty()) return;
  ready_.push_back(lane.to);
  if (timer_ != TimerId{}) return;
  // From outside of the transport, which drops pins in the middle of its own work.
  timer_ = timers_.After(Duration::zero(), [this] {
    timer_ = {};
    more_();
  });
}

}  // namespace leeway
