// SyncRule: gives some tables and servers of a job their synchronization, for people to write and read.
//
//   tables=fc* server=1 sync=pssp:3,0.5 apply=immediate
//
// Words in any order, separated by spaces; `tables` (a glob of * and ?) and `server` are optional, one of
// `sync` and `apply` is needed. A value may hold "..." as specs do, spaces included, or stand in quotes as a
// whole, with \" and \\ in it. Pure functions; the maker of the models checks rules against the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway {

inline constexpr std::size_t kSyncRuleBytesMax = 10'000;

struct SyncRule {
  std::string tables = "*";               // a glob over names of tables
  std::optional<std::uint32_t> server{};  // nothing: every server
  std::string sync{};                     // a spec, or empty: stays
  std::string apply{};                    // a spec, or empty: the model's own when sync is named, else stays
  friend bool operator==(const SyncRule&, const SyncRule&) = default;
};

// Checks specs for their syntax alone. An error names the rule, the word, what it got and what it wanted.
[[nodiscard]] Result<SyncRule> ParseSyncRule(std::string_view text);
// Parsing it gives an equal rule.
[[nodiscard]] std::string ToText(const SyncRule& rule);

struct SyncChoice {
  std::string sync;
  std::string apply;  // empty: the model's own default
  friend bool operator==(const SyncChoice&, const SyncChoice&) = default;
};

[[nodiscard]] bool Fits(const SyncRule& rule, std::string_view table, std::uint32_t server);
// The choice for a table's blocks on a server: `base`, changed by each matching rule in order. A rule that
// names `sync` and no `apply` takes the new model's default apply mode, because the earlier one may not suit
// it.
[[nodiscard]] SyncChoice Choose(std::span<const SyncRule> rules, const SyncChoice& base,
                                std::string_view table, std::uint32_t server);

}  // namespace leeway
