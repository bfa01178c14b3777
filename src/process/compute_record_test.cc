#include "process/compute_record.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <thread>

namespace leeway {
namespace {

double ProcessSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Uses so much of a processor.
void Compute(double seconds) {
  const double end = ProcessSeconds() + seconds;
  while (ProcessSeconds() < end) {
  }
}

std::map<std::string, double> FiguresOf(const ComputeRecord& record) {
  std::map<std::string, double> figures;
  for (const auto& [name, value] : record.Figures()) figures[name] = value;
  return figures;
}

TEST(ComputeRecordTest, TheFirstIterationIsLeftOut) {
  ComputeRecord record;
  Compute(0.02);
  record.Clock();
  Compute(0.002);
  record.Clock();
  std::map<std::string, double> figures = FiguresOf(record);
  EXPECT_EQ(figures["record.iterations"], 1);
  EXPECT_GE(figures["record.cpu_s"], 0.002);
  EXPECT_LT(figures["record.cpu_s"], 0.015);
}

TEST(ComputeRecordTest, WaitsAreNotComputing) {
  ComputeRecord record;
  record.Clock();
  Compute(0.002);
  record.BeginWait();
  Compute(0.02);  // as the I/O thread does meanwhile
  record.EndWait();
  record.Clock();
  std::map<std::string, double> figures = FiguresOf(record);
  EXPECT_LT(figures["record.cpu_s"], 0.015);
  EXPECT_GE(figures["record.wait_cpu_s"], 0.02);
}

TEST(ComputeRecordTest, EveryIterationIsInOneBucket) {
  ComputeRecord record;
  record.Clock();
  for (int i = 0; i < 10; ++i) {
    Compute(0.0005);
    record.Clock();
  }
  double counted = 0;
  for (const auto& [name, value] : FiguresOf(record)) counted += name.starts_with("record.cpu.") ? value : 0;
  EXPECT_EQ(counted, 10);
}

TEST(ComputeRecordTest, NotesWhenATableWasReady) {
  ComputeRecord record;
  record.Clock();
  Compute(0.004);
  record.NoteReady(TableId(1));
  Compute(0.004);
  record.NoteReady(TableId(0));
  record.Clock();
  std::map<std::string, double> figures = FiguresOf(record);
  EXPECT_NEAR(figures["record.ready.1"], 0.5, 0.3);
  EXPECT_GT(figures["record.ready.0"], figures["record.ready.1"]);
}

TEST(ComputeRecordTest, OtherThreadsAreNotMeasured) {
  ComputeRecord record;
  record.Clock();
  std::thread([&record] {
    record.BeginWait();
    record.EndWait();
    record.NoteReady(TableId(0));
    record.Clock();
  }).join();
  EXPECT_EQ(FiguresOf(record)["record.iterations"], 0);
}

}  // namespace
}  // namespace leeway
