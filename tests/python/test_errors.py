"""Input that cannot work: a clear error, and nothing else harmed."""

import gc
import os
import signal
import subprocess
import sys
import weakref

import pytest
import small
import torch
from torch import nn

import leeway
import leeway.torch as lw
from leeway import errors, session


def test_a_name_of_leeway_torch_is_not_just_missing_from_leeway():
    for name in sorted(set(lw.__all__) - set(leeway.__all__)):
        with pytest.raises(AttributeError, match=rf"import leeway\.torch as lw, then lw\.{name}"):
            getattr(leeway, name)
    with pytest.raises(AttributeError, match="import leeway.data"):
        leeway.__getattr__("data")
    assert not hasattr(leeway, "no_such_name")
    # In this process leeway.torch is imported already.
    with pytest.raises(AttributeError, match=r"import leeway\.torch as lw"):
        leeway.__getattr__("torch")


def test_another_python_than_that_of_the_build_is_named():
    """Without numpy, as a Python from elsewhere: -S leaves out the packages of this one."""
    other = "/elsewhere/python3"
    program = f"import sys; sys.executable = '{other}'; import leeway"
    ended = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: No module named 'numpy'; this build of leeway is for "), ended.stderr
    assert other in last and "leeway run" in last


def test_calls_before_init_say_so(monkeypatch):
    monkeypatch.setattr(session._Process, "over", None)  # jobs of other tests in this process
    with pytest.raises(errors.FailedPrecondition, match=r"init\(\)"):
        lw.rank()
    with pytest.raises(errors.FailedPrecondition, match=r"init\(\)"):
        lw.BatchPool(10, 2)


@pytest.mark.parametrize("optimizer, names", [
    (lambda p: torch.optim.Adamax(p), "Adamax"), (lambda p: torch.optim.Adam(p, amsgrad=True), "amsgrad"),
    (lambda p: torch.optim.SGD(p, lr=0.1, maximize=True), "maximize"), (lambda p: torch.optim.Adam(p, differentiable=True), "differentiable")])
def test_an_unsupported_optimizer_names_what_is_supported(alone, optimizer, names):
    model = small.model()
    with pytest.raises(errors.InvalidArgument, match=names) as error:
        alone.DistributedOptimizer(optimizer(model.parameters()), model.named_parameters(), apply="aggregate")
    assert "torch.optim.SGD" in str(error.value) and "AdamW" in str(error.value)


@pytest.mark.parametrize("options, says", [
    ({"sync": "bpp"}, "bsp"), ({"sync": "ssp:many"}, "ssp"), ({"apply": "agregate"}, "aggregate"), ({"sync": "asp", "apply": "aggregate"}, "immediate")])
def test_a_wrong_spec_is_refused_with_a_suggestion(alone, options, says):
    model = small.model()
    with pytest.raises(errors.InvalidArgument, match=says):
        alone.DistributedOptimizer(small.sgd(model), model.named_parameters(), **options)


@pytest.mark.parametrize("parameter", [torch.ones(3, dtype=torch.complex64), torch.ones(3).to_sparse()], ids=["complex", "sparse"])
def test_a_parameter_that_cannot_be_a_table_is_named(alone, parameter):
    parameter = nn.Parameter(parameter)
    with pytest.raises(errors.InvalidArgument, match="weight: got torch.*, wanted a dense one on cpu of torch.float32, torch.float64"):
        alone.DistributedOptimizer(torch.optim.SGD([parameter], lr=0.1), [("weight", parameter)])


def test_parameters_without_a_name_are_refused(alone):
    model = small.model()
    with pytest.raises(errors.InvalidArgument, match="named_parameters"):
        alone.DistributedOptimizer(small.sgd(model), list(model.named_parameters())[1:])


def test_two_parameters_of_one_name_are_refused(alone):
    model = small.model()
    with pytest.raises(errors.InvalidArgument, match="two parameters named w"):
        alone.DistributedOptimizer(small.sgd(model), [("w", parameter) for parameter in model.parameters()])


def test_training_without_a_broadcast_says_what_is_missing(alone):
    model = small.model()
    alone.DistributedOptimizer(small.sgd(model), model.named_parameters())
    with pytest.raises(errors.FailedPrecondition, match="broadcast_parameters"):
        small.loss(model, 0).backward()


def test_a_second_broadcast_of_a_parameter_is_refused(alone):
    model = small.model()
    small.distributed(model)
    with torch.no_grad():
        model[0].weight.fill_(7.0)  # as loading a checkpoint does
    with pytest.raises(errors.FailedPrecondition, match="0.weight.*load checkpoints before the first broadcast"):
        alone.broadcast_parameters(model.state_dict())
    for value in (1.0, 2.0):  # what has no table may be broadcast again and again
        alone.broadcast_parameters({"seen": torch.tensor(value)})


def test_buffers_of_an_optimizer_that_was_broken_off_outlive_it(alone):
    model = small.model()
    with pytest.raises(errors.LeewayError):
        alone.DistributedOptimizer(small.sgd(model), model.named_parameters(), sync="bpp")
    parameter = weakref.ref(model[0].weight)
    del model
    gc.collect()
    assert parameter() is not None, "the worker may still land values in it"


def test_a_model_that_was_moved_is_noticed(alone):
    model = small.model()
    small.distributed(model)
    small.loss(model, 0)  # until here other values are loaded ones
    kept = model[0].weight.data
    model[0].weight.data = torch.zeros_like(kept)
    with pytest.raises(errors.FailedPrecondition, match="0.weight was given other memory"):
        small.loss(model, 0).backward()
    model[0].weight.data = kept


@pytest.mark.parametrize("call, says", [
    (lambda: lw.BatchPool(0, 4), "samples"), (lambda: lw.push_pull(torch.ones(2, dtype=torch.int64)), "int64"),
    (lambda: lw.broadcast_parameters({}, root_rank=3), "root_rank 3")])
def test_wrong_arguments_are_named(alone, call, says):
    with pytest.raises(errors.InvalidArgument, match=says):
        call()


def test_a_push_pull_of_another_shape_under_the_same_name_is_refused(alone):
    alone.push_pull(torch.ones(2), name="x")
    with pytest.raises(errors.InvalidArgument, match=r"\[3\].*\[2\]"):
        alone.push_pull(torch.ones(3), name="x")


def test_a_forked_child_gets_a_clear_error_and_ends(alone):
    small.distributed(small.model())
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            alone.rank()
            said = "nothing"
        except errors.FailedPrecondition as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    assert "forked child" in os.read(read, 4096).decode()
    assert os.waitpid(child, 0)[1] == 0
    assert alone.rank() == 0


def run(script, **env):
    full = {key: value for key, value in os.environ.items() if not key.startswith("LEEWAY_")}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env={**full, **env})


def test_a_forked_child_that_ends_normally_runs_nothing_at_exit():
    done = run("import leeway, os, sys\nleeway.init()\npid = os.fork()\nif pid == 0: sys.exit(7)\n"
               "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), leeway.rank())")
    assert done.stdout.strip() == "7 0" and done.returncode == 0, done


def test_a_script_that_forgets_shutdown_ends_cleanly():
    done = run("import leeway\nleeway.init()\nprint(leeway.size())")
    assert (done.stdout.strip(), done.returncode, done.stderr) == ("1", 0, "")


def test_a_script_that_fails_ends_at_once_with_its_own_error():
    done = run("import leeway\nleeway.init()\nraise KeyError('mine')")
    assert done.returncode == 1 and "KeyError: 'mine'" in done.stderr


def test_a_leeway_error_gives_the_exit_code_of_its_kind():
    done = run("import leeway\nleeway.init()\nleeway.BatchPool(0, 1)")
    assert done.returncode == errors.InvalidArgument.exit_code and "samples must be at least 1" in done.stderr


def test_ctrl_c_ends_a_call_that_waits():
    script = ("import leeway, leeway.session, numpy as np\nleeway.init()\nworker = leeway.session.current().worker\n"
              "table = worker.create_table('never given values', [1], own_clock=True)\nworker.start()\nroom = np.zeros(1, np.float32)\n"
              "ticket = worker.pull(table, room.ctypes.data, 1)\nprint('waiting', flush=True)\nworker.wait(ticket)")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=300)[1]
    assert process.returncode != 0


def test_a_wrong_environment_is_named():
    done = run("import leeway\nleeway.init()", LEEWAY_RANK="first")
    assert 'LEEWAY_RANK: got "first"' in done.stderr and done.returncode == errors.InvalidArgument.exit_code


def test_a_wrong_argument_of_init_gives_the_exit_code_of_its_error():
    done = run("import leeway\nleeway.init(wait_max='3x')")
    assert 'init(): wait_max: got "3x", wanted seconds' in done.stderr and done.returncode == errors.InvalidArgument.exit_code


def test_a_job_that_cannot_be_joined_gives_the_exit_code_of_its_error():
    done = run("import leeway\nleeway.init(scheduler='127.0.0.1:1', wait_max=0.5)", LEEWAY_INSECURE="1")
    assert "joining the job" in done.stderr and done.returncode == errors.DeadlineExceeded.exit_code


def test_a_leaving_that_fails_at_exit_gives_the_exit_code_of_its_error():
    done = run("import leeway, leeway.errors, leeway.session as s\nleeway.init()\nreal = s.current().worker\n"
               "class Worker:\n    close = real.close\n    def leave(self): raise leeway.errors.Unavailable('gone')\n"
               "s.current().worker = Worker()\nprint('printed')")
    assert done.returncode == errors.Unavailable.exit_code and "could not leave the job cleanly: gone" in done.stderr
    assert done.stdout == "printed\n"


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1.0, 1e9])
@pytest.mark.parametrize("scheduler", ["", "127.0.0.1:1"])
def test_a_wait_without_a_sensible_limit_is_refused(scheduler, seconds):
    with pytest.raises(errors.InvalidArgument, match=f"wait_max {seconds:.0f}, wanted seconds up to 2592000"):
        lw.init(scheduler=scheduler, wait_max=seconds)


def test_closing_while_another_thread_is_in_a_call_harms_nothing():
    script = ("import leeway, leeway.session, threading, time, numpy as np\nleeway.init(wait_max=1.5)\n"
              "worker = leeway.session.current().worker\n"
              "table = worker.create_table('never given values', [1], own_clock=True)\nworker.start()\nroom = np.zeros(1, np.float32)\n"
              "ticket = worker.pull(table, room.ctypes.data, 1)\n"
              "def wait():\n"
              "    try: worker.wait(ticket)\n"
              "    except leeway.LeewayError as error: print(error.code)\n"
              "thread = threading.Thread(target=wait)\nthread.start()\ntime.sleep(0.3)\n"
              "worker.close()\n"
              "try: worker.counters()\n"
              "except leeway.LeewayError as error: print(error.code)\n"
              "thread.join()\nleeway.session._Process.session = None")
    done = run(script)
    assert (sorted(done.stdout.split()), done.returncode) == (["deadline_exceeded", "failed_precondition"], 0), done


def test_an_unknown_kind_of_buffers_is_named(alone):
    with pytest.raises(errors.InvalidArgument, match='buffers: got "median", wanted one of mean, chief, local'):
        alone.broadcast_parameters({"count": torch.tensor([1])}, buffers="median")
