#include "assembly/plugin_registries.h"

#include <exception>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/spec.h"

namespace leeway {
namespace {

// The core throws nothing, and a plug-in is somebody else's code: what it throws becomes a Status here.
template <typename Policy>
Result<std::unique_ptr<Policy>> MakeGuarded(PolicyFactory<Policy> make, const std::string& kind,
                                            const PolicyConfig& config) {
  try {
    Result<std::unique_ptr<Policy>> made = make(config);
    if (made.ok() && *made == nullptr) {
      return InvalidArgument("{} \"{}\" of a plug-in: its factory made nothing, wanted a policy or an error",
                             kind, config.name());
    }
    return made;
  } catch (const std::exception& thrown) {
    return InvalidArgument("{} \"{}\" of a plug-in: its factory threw: {}", kind, config.name(),
                           thrown.what());
  } catch (...) {
    return InvalidArgument("{} \"{}\" of a plug-in: its factory threw something that is no std::exception",
                           kind, config.name());
  }
}

class Additions final : public PluginRegistries {
 public:
  explicit Additions(Policies& policies) : policies_(policies) {}

  void AddSyncModel(std::string_view name, PolicyFactory<SyncModel> make) override {
    Add(policies_.sync, name, make);
  }
  void AddExchange(std::string_view name, PolicyFactory<ExchangePolicy> make) override {
    Add(policies_.exchanges, name, make);
  }
  void AddOptimizer(std::string_view name, PolicyFactory<Optimizer> make) override {
    Add(policies_.optimizers, name, make);
  }
  void AddPlacement(std::string_view name, PolicyFactory<Placement> make) override {
    Add(policies_.placements, name, make);
  }

  [[nodiscard]] const Status& outcome() const { return outcome_; }

 private:
  template <typename Policy>
  void Add(Registry<Policy>& registry, std::string_view name, PolicyFactory<Policy> make) {
    if (!outcome_.ok()) return;  // the first error counts
    outcome_ = Check(registry.kind(), name, registry.Has(std::string(name)), make != nullptr);
    if (!outcome_.ok()) return;
    registry.Add(std::string(name), [make, kind = registry.kind()](const PolicyConfig& config) {
      return MakeGuarded(make, kind, config);
    });
  }

  static Status Check(const std::string& kind, std::string_view name, bool exists, bool has_factory) {
    const Result<Spec> spec = ParseSpec(name);
    if (!spec.ok() || *spec != Spec{{SpecTerm{std::string(name), {}, {}}}}) {
      return InvalidArgument(
          "it adds the {} \"{}\", wanted a name of letters, digits, \"_\", \"-\" and \".\" that begins with "
          "a letter or \"_\"",
          kind, name);
    }
    if (exists) {
      return AlreadyExists("it adds the {} \"{}\", which exists already; wanted a name of its own", kind,
                           name);
    }
    if (!has_factory) return InvalidArgument("it adds the {} \"{}\" without a factory", kind, name);
    return Status::Ok();
  }

  Policies& policies_;
  Status outcome_;
};

}  // namespace

Status AddPlugin(PluginFunction plugin, Policies& policies) {
  Policies with = policies;
  Additions additions(with);
  try {
    plugin(additions);
  } catch (const std::exception& thrown) {
    return InvalidArgument("it threw while it added its policies: {}", thrown.what());
  } catch (...) {
    return InvalidArgument("it threw something that is no std::exception while it added its policies");
  }
  LW_RETURN_IF_ERROR(additions.outcome());
  policies = std::move(with);
  return Status::Ok();
}

}  // namespace leeway
