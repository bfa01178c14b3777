#!/usr/bin/env python3
"""Shows that every rule of check_layers.py can fail, and passes what it should."""

import unittest

from check_layers import APP_REACH, check_tree


def breaches(path, text):
    """Of a tree that holds this one file and nothing else amiss."""
    files = {path: text}
    if path.startswith("src/"):
        files[f"src/{path.split('/')[1]}/README.md"] = "what is here\n"
    return check_tree(files)


class LayersTest(unittest.TestCase):
    def assert_caught(self, path, text, words):
        found = breaches(path, text)
        self.assertTrue(any(words in breach for breach in found), f"{path}: {text!r} gave {found}, wanted {words!r}")

    def assert_fine(self, path, text):
        self.assertEqual(breaches(path, text), [])

    def test_a_policy_sees_no_node_and_no_other_policy(self):
        self.assert_caught("src/sync/mine.cc", '#include "node/link.h"\n', "src/sync/mine.cc:1: includes node/link.h: sync may include")
        self.assert_caught("src/sync/mine.cc", '#include "optimizer/kernels.h"\n', "sync may include")
        self.assert_fine("src/sync/mine.cc", '#include "leeway/sync_model.h"\n#include "base/errors.h"\n')

    def test_a_node_sees_no_transport_and_no_process(self):
        self.assert_caught("src/node/link.cc", '#include "transport/real_env.h"\n', "node may include")
        self.assert_caught("src/block/block.cc", '#include "wire/messages.h"\n', "block may include")
        self.assert_caught("src/transport/tcp.cc", '#include "node/link.h"\n', "transport may include")
        self.assert_caught("src/base/spec.cc", '#include "wire/kind.h"\n', "base may include")

    def test_a_node_sees_interfaces_of_policies_only_but_its_test_takes_real_ones(self):
        self.assert_caught("src/node/server/a.cc", '#include "sync/ssp.h"\n', "sees the interfaces of policies only")
        self.assert_caught("src/block/a.cc", '#include "optimizer/optimizers.h"\n', "sees the interfaces of policies only")
        self.assert_fine("src/block/a_test.cc", '#include "optimizer/optimizers.h"\n')
        self.assert_fine("src/block/a.cc", '#include "sync/sync_policy.h"\n')
        self.assert_fine("src/assembly/a.cc", '#include "optimizer/optimizers.h"\n')

    def test_what_a_module_includes_its_users_may_include(self):
        self.assert_fine("src/sim/cluster.cc", '#include "base/hash.h"\n#include "block/block.h"\n#include "wire/frame.h"\n')
        self.assert_fine("src/process/a.cc", '#include "node/link.h"\n#include "transport/real_env.h"\n')
        self.assert_caught("src/sim/cluster.cc", '#include "transport/real_env.h"\n', "sim may include")

    def test_folders_of_transport_do_not_include_each_other(self):
        self.assert_fine("src/transport/real_env.cc", '#include "transport/stream/a.h"\n#include "transport/loop/a.h"\n')
        self.assert_fine("src/transport/stream/a.cc", '#include "transport/local/a.h"\n#include "transport/stream/b.h"\n#include "wire/a.h"\n')
        self.assert_caught("src/transport/stream/a.cc", '#include "transport/real_env.h"\n', "transport/stream may include")
        self.assert_caught("src/transport/local/a.cc", '#include "transport/loop/a.h"\n', "transport/local may include")
        self.assert_caught("src/transport/system/a_test.cc", '#include "transport/loop/a.h"\n', "transport/system may include")
        self.assert_caught("src/transport/new/a.cc", '#include "transport/loop/a.h"\n', "transport/new has no row in FOLDER_EDGES")

    def test_folders_of_the_program_include_downwards_only(self):
        self.assert_caught("apps/leeway/calibrate/a.cc", '#include "launch/launcher.h"\n', "apps/leeway/calibrate may include")
        self.assert_caught("apps/leeway/terminal/a_test.cc", '#include "cli/flag_set.h"\n', "terminal may include terminal")
        self.assert_caught("apps/leeway/extra/a.cc", '#include "cli/flag_set.h"\n', "no row in APP_EDGES: extra")
        self.assert_fine("apps/leeway/launch/a.cc", '#include "terminal/screen.h"\n#include "transport/system/descriptor.h"\n')
        self.assert_fine("apps/leeway/main.cc", '#include "command/commands.h"\n')

    def test_no_two_folders_of_the_program_include_each_other(self):
        for folder, reach in APP_REACH.items():
            self.assertEqual([other for other in reach - {folder} if folder in APP_REACH[other]], [])

    def test_public_headers_are_std_only(self):
        self.assert_caught("include/leeway/a.h", '#include "base/errors.h"\n', "include may include")
        self.assert_caught("include/leeway/a.h", "#include <fmt/format.h>\n", "standard library")
        self.assert_fine("include/leeway/a.h", '#include <vector>\n#include "leeway/ids.h"\n')

    def test_heavy_headers_stand_where_they_may(self):
        self.assert_caught("src/node/a.cc", "#include <hwy/highway.h>\n", "may stand only in src/optimizer/")
        self.assert_fine("src/optimizer/a.cc", "#include <hwy/highway.h>\n")
        self.assert_caught("apps/leeway/main.cc", "#include <CLI/CLI.hpp>\n", "command_line.cc")
        self.assert_caught("src/block/a.cc", '#include "wire/control.pb.h"\n', "may stand only in")
        self.assert_caught("src/process/a.cc", "#include <nlohmann/json.hpp>\n", "may stand only in")

    def test_a_limit_in_a_test_ends_a_hang_and_judges_nothing(self):
        for line in ("job.wai" + "t(10)", "f(timeou" + "t=5, x=1)", "deadline = time.monotonic() " + "+ 20",
                     'job.wait_fo' + 'r(lambda: f(), "x", 30)'):
            self.assert_caught("tests/cluster/test_a.py", f"{line}\n", "wanted at least 60")
        for line in ("job.wait()", "job.wait(60)", "until = time.monotonic() + 0.2", 'job.wait_for(lambda: f(2), "x")'):
            self.assert_fine("tests/cluster/test_a.py", f"{line}\n")
        self.assert_fine("bench/a.py", "job.wai" + "t(10)\n")
    def test_examples_show_public_headers_only(self):
        self.assert_fine("examples/a.cc", '#include <cstdio>\n#include "leeway/worker.h"\n')
        self.assert_caught("examples/a.cc", '#include "process/local_job.h"\n', "leeway/ alone")

    def test_nodes_reach_the_world_through_env(self):
        self.assert_caught("src/node/a.cc", "#include <thread>\n", "through Env alone")
        self.assert_caught("src/block/a.cc", "#include <sys/socket.h>\n", "through Env alone")
        self.assert_caught("src/node/a.cc", "auto now = std::chrono::steady_clock::now();\n", "src/node/a.cc:1: uses steady_clock")
        self.assert_caught("src/node/a.cc", "if (env.IsSimulated()) {}\n", "uses IsSimulated")
        self.assert_caught("src/transport/a.cc", 'getenv("HOME");\n', "read the environment")
        self.assert_fine("src/process/worker_environment.cc", 'getenv("LEEWAY_RANK");\n')
        self.assert_fine("src/node/a.cc", "// not steady_clock, but Env's\n#include <chrono>\n")
        self.assert_fine("src/transport/a.cc", "#include <thread>\nsteady_clock::now();\n")

    def test_no_two_headers_define_a_class_of_one_name(self):
        def tree(space, name):
            return {"src/node/README.md": "", "src/node/server/a.h": "namespace leeway {\nclass A final : public B {\n};\n}  // namespace leeway\n",
                    "src/node/worker/a.h": f"namespace {space} {{\nstruct {name} {{\n}};\n}}  // namespace {space}\n"}
        self.assertEqual(check_tree(tree("leeway", "A")), ["src/node/worker/a.h:2: defines leeway::A, which src/node/server/a.h defines too"])
        self.assertEqual(check_tree(tree("leeway::sim", "A")), [])
        self.assertEqual(check_tree(tree("leeway", "C")), [])

    def test_long_files_and_empty_names_are_caught(self):
        self.assert_caught("src/base/long.cc", "int x;\n" * 501, "has 501 lines")
        self.assert_caught("python/leeway/utils.py", "", "is called utils.py")
        self.assert_caught("src/common/a.h", "", "is called common")
        self.assert_fine("src/base/long.cc", "int x;\n" * 500)

    def test_every_module_says_what_it_is(self):
        self.assertEqual(check_tree({"src/base/spec.h": ""}), ["src/base:1: has no README.md that says what is here and what is not"])

    def test_a_new_folder_needs_a_row(self):
        self.assert_caught("src/magic/a.cc", '#include "base/errors.h"\n', "no row in EDGES")


if __name__ == "__main__":
    unittest.main()
