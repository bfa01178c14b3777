#include "node/server/table_reports.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace leeway {
namespace {

// A row goes out with every beat, so it names only some workers.
constexpr int kMissingNamed = 8;

void AddBlock(const Block& block, wire::pb::TableReport& row) {
  const bool first = row.blocks() == 0;
  const std::int64_t v_train = block.v_train().value();
  row.set_v_train_min(first ? v_train : std::min(row.v_train_min(), v_train));
  row.set_v_train_max(first ? v_train : std::max(row.v_train_max(), v_train));
  row.set_fastest(first ? block.progress().Fastest().value()
                        : std::max(row.fastest(), block.progress().Fastest().value()));
  row.set_slowest(first ? block.progress().Slowest().value()
                        : std::min(row.slowest(), block.progress().Slowest().value()));
  row.set_waiting(row.waiting() + block.waiting());
  if (block.waiting() > 0 && row.waiting_for().empty()) {
    row.set_waiting_for(block.WhyWaiting());
    for (const WorkerId missing : block.Missing()) {
      if (row.missing_size() == kMissingNamed) break;
      row.add_missing(missing.value());
    }
  }
  row.set_waited_s(row.waited_s() + std::chrono::duration<double>(block.counters().delayed_wait).count());
  row.set_blocks(row.blocks() + 1);
}

// Lists each model of a report once: a formula may be long, and hundreds of tables have it.
class Models {
 public:
  explicit Models(wire::pb::Report& report) : report_(report) {}
  std::uint32_t NumberOf(const wire::pb::TableModel& model) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::make_pair(model.sync(), model.apply()), report_.models_size() + 1);
    if (is_new) *report_.add_models() = model;
    return static_cast<std::uint32_t>(found->second);
  }

 private:
  wire::pb::Report& report_;
  std::map<std::pair<std::string, std::string>, int> numbers_;
};

}  // namespace

void TableReports::AddTo(const BlockStore& blocks, wire::pb::Report& report) const {
  std::map<TableId, wire::pb::TableReport*> rows;
  for (const auto& block : blocks.all()) rows[block->table()] = nullptr;
  wire::pb::TableReport* rest = nullptr;
  for (auto& [table, row] : rows) {
    if (rest == nullptr) {
      row = report.add_tables();
      row->set_table(table.value());
      if (static_cast<std::size_t>(report.tables_size()) > kRowsMax) {
        rest = row;
        rest->clear_table();
      }
    } else {
      row = rest;
    }
    if (rest != nullptr) rest->set_more_tables(rest->more_tables() + 1);
    if (const auto delayed = delays_.find(table); delayed != delays_.end()) {
      row->set_dpr(row->dpr() + delayed->second.count());
    }
  }
  Models models(report);
  const SyncPolicy* last = nullptr;  // blocks of a table follow one another and have one model
  std::uint32_t model = 0;
  for (const auto& block : blocks.all()) {
    wire::pb::TableReport& row = *rows.at(block->table());
    const bool first = row.blocks() == 0;
    AddBlock(*block, row);
    if (&block->sync() != last) model = models.NumberOf(blocks.ModelOf(*block));
    last = &block->sync();
    // A row with several models names no model.
    row.set_model(first || row.model() == model ? model : 0);
  }
}

}  // namespace leeway
