#include "sim/link_model.h"

#include <algorithm>

#include "sim/seeded_random.h"

namespace leeway::sim {
namespace {

class NicLinks final : public LinkModel {
 public:
  NicLinks(const NicOptions& options, std::uint64_t seed) : options_(options), random_(seed) {}

  Passage Carry(HostId from, HostId to, std::size_t bytes, Duration now) override {
    const std::size_t hosts = std::max(from.index(), to.index()) + 1;
    if (cards_.size() < hosts) cards_.resize(hosts);
    const Duration service(
        static_cast<Duration::rep>(static_cast<double>(bytes) * 1e9 / options_.bytes_per_second));
    Duration& out = cards_[from.index()].out_free;
    out = std::max(out, now) + service;
    const Duration left = out;
    // The receiving card serves pieces in the order of their sending. Jitter comes after it, or one late
    // piece would delay other hosts' pieces.
    Duration& in = cards_[to.index()].in_free;
    in = std::max(in, left + options_.latency) + service;
    return {left, in + random_.Exponential(options_.jitter_mean)};
  }

 private:
  struct Card {
    Duration out_free{0};
    Duration in_free{0};
  };
  const NicOptions options_;
  SeededRandom random_;
  std::vector<Card> cards_;
};

}  // namespace

std::unique_ptr<LinkModel> MakeNicLinks(const NicOptions& options, std::uint64_t seed) {
  return std::make_unique<NicLinks>(options, seed);
}

}  // namespace leeway::sim
