#include "node/server/why.h"

#include <algorithm>
#include <vector>

namespace leeway {
namespace {

// A reply names so many workers; more names help nobody.
constexpr std::size_t kMissingMax = 16;

}  // namespace

wire::pb::WhyReply ExplainBlock(const wire::pb::Why& why, WorkerId asks, const BlockStore& blocks) {
  wire::pb::WhyReply reply;
  reply.set_request(why.request());
  const Block* block = blocks.Find(BlockId(why.block()));
  if (block == nullptr) return reply;
  reply.set_known(true);
  reply.set_initialized(block->initialized());
  reply.set_v_train(block->v_train().value());
  reply.set_delayed(block->IsDelayed(asks));
  reply.set_timed(block->IsTimed());
  const std::vector<WorkerId> missing = block->Missing();
  for (std::size_t i = 0; i < std::min(missing.size(), kMissingMax); ++i) {
    reply.add_missing(missing[i].value());
  }
  return reply;
}

}  // namespace leeway
