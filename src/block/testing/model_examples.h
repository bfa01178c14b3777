// Specs of every row of the sync registry, for tests that run over all models: a row that is new is among
// them by itself, as long as some arguments below fit it. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "block/apply_mode.h"
#include "sync/sync_policy.h"

namespace leeway {

// Models that jobs of four workers may have.
inline std::vector<std::string> ModelExamples() {
  const std::vector<std::string> arguments = {
      "",
      ":1",
      ":2",
      ":3,release=soft",
      ":1,0.000001",
      ":2,0.000002,ahead=sum",
      ":2,0.000002,ahead=sum,late=apply",
      ":1,0.5",
      ":s=1,alpha=0.7",
      ":s=2,alpha=significance",
      ":1,3",
      ":0,3,2",
      ":late=apply",
      R"(:pull="progress < v_train + s || rand > p",push="count >= workers",s=1,p=0.5)",
      R"(:pull="progress <= slowest + 2",push="count >= 1")",
  };
  std::vector<std::string> examples;
  const Registry<SyncModel> models = BuiltinSyncModels();
  for (const std::string& name : models.names()) {
    const std::size_t before = examples.size();
    for (const std::string& argument : arguments) {
      if (MakeSyncPolicy(models, name + argument).ok()) examples.push_back(name + argument);
    }
    EXPECT_GT(examples.size(), before)
        << "no arguments in block/testing/model_examples.h fit \"" << name << "\"";
  }
  return examples;
}

// Every apply mode that fits a sync model.
inline std::vector<std::string> FittingApplyModes(const std::string& sync) {
  const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  std::vector<std::string> fit;
  for (const char* apply : {"immediate", "aggregate", "aggregate:reduce=ordered", "aggregate:window=6",
                            "immediate:scale=staleness"}) {
    if (MakeApplyMode(apply, *policy->model).ok()) fit.emplace_back(apply);
  }
  EXPECT_FALSE(fit.empty()) << sync;
  return fit;
}

}  // namespace leeway
