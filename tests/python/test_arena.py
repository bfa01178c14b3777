"""Parameters and gradients in the worker's arena: training and everything people do with a model stay as they were."""

import copy
import gc
import io
import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest
import small
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import leeway.session
import leeway.torch as lw
from leeway import errors
from leeway.torch.slot import Slot


def train(model, optimizer, steps, set_to_none=False):
    for step in steps:
        optimizer.zero_grad(set_to_none=set_to_none)
        small.loss(model, step).backward()
        optimizer.step()


def trained_by_torch(steps, **options):
    model = small.model()
    train(model, small.sgd(model), range(steps), **options)
    return model


def slots(optimizer):
    return {address for table in optimizer.tables for address in table.values.buffers}


def in_arena(model, optimizer):
    return all(parameter.data_ptr() in slots(optimizer) for parameter in model.parameters())


def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters()))


def on_the_heap(slot, worker, like, kind=torch.Tensor):
    del worker
    slot._memory, slot._tensor = None, torch.zeros_like(like).as_subclass(kind)
    slot.address = slot._tensor.data_ptr()


@pytest.mark.parametrize("overlap", [True, False])
def test_twenty_adam_steps_have_the_same_bits_without_the_arena(overlap, monkeypatch):
    models = []
    for _ in range(2):
        lw.init()
        model = small.model()
        optimizer = small.distributed(model, torch.optim.Adam(model.parameters(), lr=3e-3), overlap=overlap)
        values = optimizer.tables[0].values
        assert hasattr(values.buffers[values.address]._memory, "capsule") == (not models)
        train(model, optimizer, range(20))
        lw.shutdown()
        models.append(model)
        monkeypatch.setattr(Slot, "__init__", on_the_heap)
    assert equal(*models) and not equal(models[0], small.model())


def test_training_copies_and_rebinds_nothing(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(5))
    model.state_dict()  # waits for all values
    assert in_arena(model, optimizer)
    assert all(table.gradient.fresh.holds(table.parameter.grad) for table in optimizer.tables)
    figures = optimizer.figures()
    assert (figures["copied_gradients"], figures["rebound_parameters"]) == (0, 0)


def test_gradients_that_autograd_put_elsewhere_are_copied_and_counted(alone):
    plain = trained_by_torch(6, set_to_none=True)
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(6), set_to_none=True)
    assert optimizer.figures()["copied_gradients"] == 5 * len(optimizer.tables), "all but the first of each"
    alone.shutdown()
    assert small.close(model, plain)


def test_gradients_of_several_backwards_add_up_in_the_arena(alone):
    plain, model = small.model(), small.model()
    optimizer, ours = small.sgd(plain), small.distributed(model)
    for step in range(4):
        optimizer.zero_grad()
        ours.zero_grad()
        for half in (2 * step, 2 * step + 1):
            small.loss(plain, half).backward()
        with lw.no_sync():
            small.loss(model, 2 * step).backward()
        small.loss(model, 2 * step + 1).backward()
        optimizer.step()
        ours.step()
    assert ours.figures()["copied_gradients"] == 0
    alone.shutdown()
    assert small.close(model, plain)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_gradient_that_is_part_of_a_graph_stays_one(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(1))
    optimizer.zero_grad()
    small.loss(model, 1).backward(create_graph=True)
    assert all(parameter.grad.requires_grad for parameter in model.parameters())
    penalty = sum(parameter.grad.pow(2).sum() for parameter in model.parameters())
    assert torch.autograd.grad(penalty, model[3].weight)[0].norm() > 0
    optimizer.step()
    assert optimizer.figures()["copied_gradients"] == len(optimizer.tables)


def test_state_dicts_are_loaded_into_the_arena(alone):
    model, other = small.model(), small.model(seed=2)
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters())
    model.load_state_dict(other.state_dict())
    assert in_arena(model, optimizer)
    lw.broadcast_parameters(model.state_dict())
    assert equal(model, other) and optimizer.figures()["rebound_parameters"] == 0


@pytest.mark.parametrize("save", [
    lambda model: torch.save(model, saved := io.BytesIO()) or saved.getvalue(),
    lambda model: torch.save(model.state_dict(), saved := io.BytesIO()) or saved.getvalue(),
    pickle.dumps], ids=["model", "state_dict", "pickle"])
def test_what_is_saved_is_no_larger(alone, save):
    model, plain = small.model(), small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    train(plain, small.sgd(plain), range(2))
    # torch names each storage by its address, whose digits vary from run to run. Another copy of the parameters takes 6,000 bytes.
    assert abs(len(save(model)) - len(save(plain))) < 200


def test_a_copy_of_a_model_is_in_memory_of_its_own(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    kept = copy.deepcopy(model)
    assert not {parameter.data_ptr() for parameter in kept.parameters()} & slots(optimizer)
    before = [parameter.clone() for parameter in kept.parameters()]
    train(model, optimizer, range(2, 5))
    train(copy.deepcopy(model), small.sgd(kept), range(1))  # it can be trained without the job
    assert all(torch.equal(a, b) for a, b in zip(kept.parameters(), before))


def test_data_loaders_with_worker_processes_go_on_beside_training(alone):
    x, y = torch.randn(24, 1, 8, 8), torch.randint(0, 10, (24,))
    plain, model = small.model(), small.model()
    optimizer, ours = small.sgd(plain), small.distributed(model)
    for _ in range(2):
        for batch, labels in DataLoader(TensorDataset(x, y), batch_size=6, num_workers=2):
            for net, opt in ((plain, optimizer), (model, ours)):
                opt.zero_grad()
                nn.functional.cross_entropy(net(batch), labels).backward()
                opt.step()
    alone.shutdown()
    assert small.close(model, plain)


def weights_of(model, answers):
    answers.put([parameter.sum().item() for parameter in model.parameters()])


def test_a_model_may_be_handed_to_a_spawned_process(alone):
    plain = trained_by_torch(6)
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(3))
    wanted = [parameter.sum().item() for parameter in model.parameters()]
    context = torch.multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=weights_of, args=(model, answers))
    process.start()
    assert answers.get() == wanted
    process.join(120)
    assert process.exitcode == 0
    assert not in_arena(model, optimizer), "torch gave it shared memory of its own"
    train(model, optimizer, range(3, 6))
    assert optimizer.figures()["rebound_parameters"] == len(optimizer.tables)
    alone.shutdown()
    assert small.close(model, plain)


@pytest.mark.parametrize("when", ["after backward", "after step"])
def test_sharing_a_model_in_the_middle_of_training_harms_nothing(alone, when):
    plain = trained_by_torch(8)
    model = small.model()
    optimizer = small.distributed(model)
    for step in range(8):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        if when == "after backward":
            model.share_memory()  # of gradients too, which are on loan
        optimizer.step()
        if when == "after step":
            model.share_memory()
    assert optimizer.figures()["rebound_parameters"] >= 7 * len(optimizer.tables)
    alone.shutdown()
    assert small.close(model, plain)


def test_other_memory_with_the_same_values_is_put_back_and_counted(alone):
    plain = trained_by_torch(3)
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    model[3].weight.data = model[3].weight.data.clone()
    model[0].weight.data = model[0].weight.data.double().float()
    train(model, optimizer, range(2, 3))
    model.state_dict()
    assert in_arena(model, optimizer) and optimizer.figures()["rebound_parameters"] == 2
    alone.shutdown()
    assert small.close(model, plain)


def test_values_set_before_the_broadcast_are_the_initial_ones_wherever_they_are(alone):
    model, other = small.model(), small.model(seed=2)
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters())
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(other.parameters()), model.parameters())
    lw.broadcast_parameters(model.state_dict())
    assert equal(model, other) and in_arena(model, optimizer)
    train(model, optimizer, range(2))
    train(other, small.sgd(other), range(2))
    alone.shutdown()
    assert small.close(model, other)


class Recorder:
    """The worker, and what its broadcasts were given."""

    def __init__(self, worker):
        self.worker, self.broadcasts = worker, []

    def __getattr__(self, name):
        return getattr(self.worker, name)

    def broadcast(self, table, values, elements, lent=None):
        if lent is not None:  # the table of buffers begins with zeros from plain memory
            self.broadcasts.append((values, lent.address))
        self.worker.broadcast(table, values, elements, lent)


def test_a_broadcast_lends_the_values_where_they_are(alone, monkeypatch):
    model = small.model()
    model[0].requires_grad_(False)  # without a table: goes as bytes, from memory of the broadcast's own
    initial = copy.deepcopy(model)
    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    optimizer = lw.DistributedOptimizer(torch.optim.SGD([p for _, p in trained], lr=0.1), trained)
    session = leeway.session.current()
    recorder = Recorder(session.worker)
    monkeypatch.setattr(session, "worker", recorder)
    parameters = [parameter.data_ptr() for _, parameter in trained]
    alone.broadcast_parameters(model.state_dict())
    assert [values for values, _ in recorder.broadcasts[:-1]] == parameters
    assert len(recorder.broadcasts) == len(parameters) + 1 and all(values == lent for values, lent in recorder.broadcasts)
    assert equal(model, initial) and in_arena(nn.ParameterList([p for _, p in trained]), optimizer)


@pytest.mark.parametrize("change, says", [
    (lambda model: model.double(), "now torch.float64"),
    (lambda model: model.to(memory_format=torch.channels_last), "now with strides"),
    (lambda model: nn.utils.vector_to_parameters(torch.ones(76), model.parameters()), "now with other values")])
def test_what_the_job_would_not_know_of_is_an_error(alone, change, says):
    model = nn.Sequential(nn.Conv2d(2, 4, 3))
    optimizer = alone.DistributedOptimizer(small.sgd(model), model.named_parameters())
    alone.broadcast_parameters(model.state_dict())
    optimizer.skip()  # until the first step other values are loaded ones
    kept = [parameter.data for parameter in model.parameters()]
    change(model)
    with pytest.raises(errors.FailedPrecondition, match=f"0.weight was given other memory .{says}"):
        optimizer.skip()  # and makes ready what no module has waited for
    for parameter, data in zip(model.parameters(), kept):
        parameter.data = data


def test_a_model_and_views_of_it_outlive_its_job():
    plain = trained_by_torch(3)
    lw.init()
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(3))
    views = [parameter.data for parameter in model.parameters()]  # these stay in the arena
    kept = [view.clone() for view in views]
    lw.shutdown()
    assert not in_arena(model, optimizer), "it is a plain model again"
    del optimizer
    for seed in (5, 6):  # other jobs take memory of theirs
        lw.init()
        other = small.model(seed)
        train(other, small.distributed(other), range(3))
        lw.shutdown()
    gc.collect()
    assert all(torch.equal(a, b) for a, b in zip(views, kept)) and small.close(model, plain)
    for net in (plain, model):
        train(net, torch.optim.SGD(net.parameters(), lr=0.1), range(3, 6))  # plain PyTorch again
    assert small.close(model, plain)


@pytest.mark.parametrize("shape, strides, says", [
    ([2, 3], [1, 2], "dimension 1: got 3 elements with stride 2"), ([2, 3], [3], "1 strides for 2"), ([0], [1], "got 0"),
    ([1 << 40, 2], [2, 1], "at most")])
def test_memory_is_for_contiguous_tensors(alone, shape, strides, says):
    from leeway import session
    with pytest.raises(errors.InvalidArgument, match=says):
        session.current().worker.allocate(shape, strides)


def test_strides_of_single_elements_are_kept(alone):
    weight = nn.Parameter(torch.empty_strided((4, 1), (1, 7)).fill_(2.0))
    alone.DistributedOptimizer(torch.optim.SGD([weight], lr=0.1), [("w", weight)])
    assert weight.stride() == (1, 7) and weight.tolist() == [[2.0]] * 4


def rss_kb():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def test_memory_goes_back_when_its_last_owner_is_gone(alone):
    from leeway import session
    worker = session.current().worker

    def use(memory):
        capsule = memory.capsule()  # never taken: freed with the capsule
        tensor = torch.utils.dlpack.from_dlpack(memory.capsule())
        del memory, capsule
        assert tensor.sum().item() == 0.0

    use(worker.allocate([1 << 20], [1]))
    before = rss_kb()
    for _ in range(64):  # 4 MiB each
        use(worker.allocate([1 << 20], [1]))
    assert rss_kb() - before < 64 << 10


SCRIPT = """
import torch, leeway.torch as lw
from torch import nn
def fail(gradient): raise KeyError("in backward")
lw.init()
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model.named_parameters())
lw.broadcast_parameters(model.state_dict())
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
optimizer.zero_grad()
model[1].weight.register_hook(fail)  # the last backward of a process, broken off: torch keeps what it had saved till the end
END
print("reached the end")
"""


@pytest.mark.parametrize("ending, exit_code", [
    ("try: model(torch.ones(2, 8)).sum().backward()\nexcept KeyError: pass", 0),
    ("model(torch.ones(2, 8)).sum().backward()", 1)], ids=["caught", "not caught"])
def test_a_script_ends_after_an_exception_in_backward(ending, exit_code):
    done = subprocess.run([sys.executable, "-c", SCRIPT.replace("END", ending)], capture_output=True, text=True, timeout=300,
                          check=False)
    assert done.returncode == exit_code, done
    assert ("reached the end" in done.stdout) == (exit_code == 0)


def test_a_forked_child_has_the_parameters_to_itself(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    kept = [parameter.clone() for parameter in model.parameters()]
    wanted = [parameter.sum().item() for parameter in model.parameters()]

    def child(answers):
        answers.put([parameter.sum().item() for parameter in model.parameters()])
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()  # the parent's stay as they are
        answers.put(in_arena(model, optimizer))

    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=child, args=(answers,))
    process.start()
    assert answers.get() == wanted
    assert not answers.get()
    process.join(120)
    assert process.exitcode == 0
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), kept)) and in_arena(model, optimizer)
    train(model, optimizer, range(2, 3))


def test_a_forked_child_that_ends_leaves_the_parameters_as_they_are(alone):
    torch.manual_seed(1)
    model = nn.Linear(512, 512)  # 1 MiB: freed memory of this size goes back to the system
    optimizer = small.distributed(model)
    model(torch.ones(2, 512)).sum().backward()
    optimizer.step()
    model.state_dict()  # waits for all values
    kept = [parameter.clone() for parameter in model.parameters()]
    child = os.fork()
    if child == 0:
        model = optimizer = None
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), kept)) and in_arena(model, optimizer)
    optimizer.zero_grad()
    model(torch.ones(2, 512)).sum().backward()
    optimizer.step()
