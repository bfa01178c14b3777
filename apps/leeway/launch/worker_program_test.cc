#include "launch/worker_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace leeway::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerProgramTest : public ::testing::Test {
 protected:
  WorkerProgramTest() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/python");
    std::ofstream(script) << "print()\n";
    program.executable = folder + "/leeway";
    program.environment.Set("PATH", "/bin");
  }
  ~WorkerProgramTest() override { std::filesystem::remove_all(folder); }
  void MakeInterpreter() const { std::ofstream(folder + "/python/interpreter") << "/opt/bin/python3\n"; }

  const std::string folder = ::testing::TempDir() + "worker_program_test";
  const std::string script = folder + "/train.py";
  Program program;
};

TEST_F(WorkerProgramTest, AScriptIsRunByThePythonOfTheBuild) {
  MakeInterpreter();
  const Result<WorkerProgram> worker = FindWorkerProgram(program, {script, "--epochs", "3"});
  ASSERT_TRUE(worker.ok()) << worker.status().ToString();
  EXPECT_EQ(worker->program, "/opt/bin/python3");
  EXPECT_THAT(worker->args, ElementsAre("/opt/bin/python3", script, "--epochs", "3"));
}

TEST_F(WorkerProgramTest, ACommandIsFoundAsInAShell) {
  const Result<WorkerProgram> worker = FindWorkerProgram(program, {"sh", "a.py"});
  ASSERT_TRUE(worker.ok()) << worker.status().ToString();
  EXPECT_EQ(worker->program, "/bin/sh");
  EXPECT_THAT(worker->args, ElementsAre("sh", "a.py"));
}

TEST_F(WorkerProgramTest, WhatIsMissingIsNamed) {
  const Result<WorkerProgram> no_python = FindWorkerProgram(program, {script});
  EXPECT_THAT(no_python.status().message(), HasSubstr("this build has no Python"));
  EXPECT_THAT(no_python.status().message(), HasSubstr("-- python3 " + script));
  MakeInterpreter();
  EXPECT_THAT(FindWorkerProgram(program, {folder + "/no.py"}).status().message(),
              HasSubstr("/no.py\": no such file"));
}

TEST_F(WorkerProgramTest, AScriptThatLacksAModuleOfTheBuildGetsAHint) {
  MakeInterpreter();
  const auto says = [](const std::string& line) {
    return [line](std::string_view text) { return line.find(text) != std::string::npos; };
  };
  EXPECT_THAT(PythonHint(program, "/bin/python3", says("No module named 'torch.nn'")),
              HasSubstr("/bin/python3 cannot import torch; the Python of this build is /opt/bin/python3"));
  EXPECT_EQ(PythonHint(program, "/bin/python3", says("No module named 'torchvision'")), "");
  EXPECT_EQ(PythonHint(program, "/opt/bin/python3", says("No module named 'torch'")), "");
}

}  // namespace
}  // namespace leeway::app
