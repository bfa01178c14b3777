#include "process/entry_gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace leeway {
namespace {

TEST(EntryGateTest, NobodyEntersAClosedOne) {
  EntryGate gate;
  EXPECT_TRUE(gate.Enter());
  gate.Leave();
  gate.Close();
  EXPECT_FALSE(gate.Enter());
  gate.WaitEmpty();
}

TEST(EntryGateTest, WhoeverIsInsideIsWaitedFor) {
  EntryGate gate;
  std::atomic<bool> end{false};
  std::atomic<int> inside{0}, entered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (gate.Enter()) {
        ++inside;
        ++entered;
        if (end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --inside;
        gate.Leave();
      }
    });
  }
  while (entered < 1000) std::this_thread::yield();
  end = true;
  gate.Close();
  gate.WaitEmpty();
  EXPECT_EQ(inside, 0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace leeway
