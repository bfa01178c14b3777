// A plug-in with the parts of "Versatile Communication Optimization for Deep Learning by Modularized
// Parameter Server" (Po-Yen Wu, 2018): what its chapter 4 overrides in C++ classes, as policies of Leeway.
//
//   leeway sim scenario.toml --plugin leeway_thesis.so --set policies.sync=thesis_ssp:5
//   leeway run --plugin leeway_thesis.so --sync thesis_ssp:5 --exchange thesis_ssp:5 -- ./worker
//
// Code 4.1        thesis_round_robin  placement
// Algorithm 2     thesis_heuristic    placement
// Code 4.3        thesis_sgd          optimizer: the part of Decode that adds to the server's storage
// Code 4.4        thesis_ssp:s        synchronization model: BeforeGetServerData
// Code 4.4        thesis_ssp:s        exchange policy: AfterClientUpdate
//
// Top-1 % sparsification (code 4.2, and the bytes of 4.3) is a codec, for which plug-ins have no interface
// yet.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "leeway/plugin.h"

namespace {

using namespace leeway;  // NOLINT(google-build-using-namespace): one file

// Code 4.1, Decision(): partitions to servers in turn. There a table is one partition; here it is cut into
// blocks, and --block-bytes=64MiB leaves tables whole.
class RoundRobin final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    std::vector<ShardId> placed;
    std::size_t last = BlocksOwned(shards) % shards.size();  // tables may come in several rounds
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      placed.push_back(shards[last].shard);
      last = (last + 1) % shards.size();
    }
    return placed;
  }
};

// Algorithm 2: the largest layer first, each to the server with the least load.
class Heuristic final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
    std::vector<PlacedShard> loads(shards.begin(), shards.end());
    std::vector<ShardId> placed(blocks.size());
    for (const std::size_t i : order) {
      PlacedShard& least = *std::ranges::min_element(loads, {}, &PlacedShard::bytes);
      placed[i] = least.shard;
      least.bytes += blocks[i].bytes;
    }
    return placed;
  }
};

// Code 4.3, Decode(): the server adds what a worker sent. With the model below each push is applied when it
// comes, so N workers step by their sum (algorithm 1, line 7), where Leeway's own optimizers take lr / N.
class Sgd final : public Optimizer {
 public:
  int slots() const override { return 0; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    const float lr = in.hyper.lr;
    bool finite = true;
    for (std::size_t i = 0; i < in.w.size(); ++i) {
      out.w[i] = in.w[i] - lr * (in.g[i] * in.g_scale + in.hyper.weight_decay * in.w[i]);
      finite = finite && std::isfinite(out.w[i]);
    }
    return finite;
  }
};

// Code 4.4 on the server. Leeway re-evaluates a block after every push, which is what AfterClientPushHandler
// does by waking the waiting answers.
class Ssp final : public SyncModel {
 public:
  explicit Ssp(std::int64_t staleness) : staleness_(staleness) {}
  // BeforeGetServerData: min(server_iterations) >= iteration - s. Every worker's push of v_train - 1 is here.
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration iteration) const override {
    return view.v_train - 1 >= iteration - staleness_ ? PullVerdict::kNow : PullVerdict::kLater;
  }
  // min(server_iterations) grows when the slowest worker's push has come.
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    return view.CountAt(view.v_train) >= view.MembersAt(view.v_train) ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return staleness_; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override {
    return "v_train - 1 >= progress - " + std::to_string(staleness_);
  }
  std::string PushCondition() const override { return "count >= members"; }

 private:
  const std::int64_t staleness_;
};

// Code 4.4 on the worker. ClientSync needs no code of its own: a worker that is let go on without an exchange
// holds values that are young enough, and one that has pulled waits for its answers.
class PushWhenStale final : public ExchangePolicy {
 public:
  explicit PushWhenStale(std::int64_t staleness) : staleness_(staleness) {}
  // AfterClientUpdate: min(iterations) < iteration - s. Values that hold all up to min lack iteration - min.
  bool IsDue(const ExchangeView& view) const override {
    const std::optional<std::int64_t> lacking = view.Age();
    return !lacking || *lacking > staleness_;
  }

 private:
  const std::int64_t staleness_;
};

template <typename Interface, typename Class>
Result<std::unique_ptr<Interface>> Make(const PolicyArguments&) {
  return std::unique_ptr<Interface>(std::make_unique<Class>());
}

template <typename Interface, typename Class>
Result<std::unique_ptr<Interface>> MakeWithStaleness(const PolicyArguments& arguments) {
  LW_ASSIGN_OR_RETURN(const std::int64_t staleness, arguments.IntInRange("s", 0, 1'000'000));
  return std::unique_ptr<Interface>(std::make_unique<Class>(staleness));
}

}  // namespace

LEEWAY_PLUGIN(registries) {
  registries.AddPlacement("thesis_round_robin", Make<Placement, RoundRobin>);
  registries.AddPlacement("thesis_heuristic", Make<Placement, Heuristic>);
  registries.AddOptimizer("thesis_sgd", Make<Optimizer, Sgd>);
  registries.AddSyncModel("thesis_ssp", MakeWithStaleness<SyncModel, Ssp>);
  registries.AddExchange("thesis_ssp", MakeWithStaleness<ExchangePolicy, PushWhenStale>);
}
