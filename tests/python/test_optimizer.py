"""DistributedOptimizer in a job of one process against torch's own optimizer."""

import copy
import io
import pickle
import warnings

import pytest
import small
import torch
from torch import nn

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=1e-3),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.3, weight_decay=1e-3),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=3e-3, betas=(0.8, 0.99), eps=1e-6, weight_decay=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, lr=3e-3),
}
SCHEDULERS = {
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5),
    "one_cycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=20),
    "warmup": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda i: min(1.0, (i + 1) / 5)),
}


def train(model, optimizer, scheduler=None, steps=12, set_to_none=False):
    for step in range(steps):
        optimizer.zero_grad(set_to_none=set_to_none)
        small.loss(model, step).backward()
        optimizer.step()
        if scheduler:
            scheduler.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_as_torch_does(alone, name):
    plain, model = small.model(), small.model()
    train(plain, OPTIMIZERS[name](plain.parameters()))
    train(model, small.distributed(model, OPTIMIZERS[name](model.parameters())))
    alone.shutdown()
    assert small.close(model, plain) and not small.close(model, small.model(), 1e-3)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_follows_learning_rate_schedulers(alone, name):
    plain, model = small.model(), small.model()
    optimizer = small.sgd(plain)
    train(plain, optimizer, SCHEDULERS[name](optimizer))
    optimizer = small.distributed(model)
    train(model, optimizer, SCHEDULERS[name](optimizer))
    alone.shutdown()
    assert small.close(model, plain)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_follows_a_scheduler_that_was_made_before_it(alone, name):
    plain, model = small.model(), small.model()
    optimizer = small.sgd(plain)
    train(plain, optimizer, SCHEDULERS[name](optimizer))
    optimizer = small.sgd(model)
    scheduler = SCHEDULERS[name](optimizer)  # it puts a step() of its own on the optimizer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model, small.distributed(model, optimizer), scheduler)
    assert alone.iteration() == 12, "the job must have made the steps"
    alone.shutdown()
    assert small.close(model, plain)


def test_a_model_is_plain_again_after_its_job(alone):
    plain, model = small.model(), small.model()
    train(plain, small.sgd(plain), steps=3)
    train(model, small.distributed(model), steps=3)
    alone.shutdown()
    plain.zero_grad(set_to_none=True)  # and none for the model: what the job left behind must not be added to
    for net in (plain, model):
        small.loss(net, 3).backward()
    assert all(torch.allclose(a.grad, b.grad, atol=1e-5) for a, b in zip(model.parameters(), plain.parameters()))


def test_a_model_can_be_trained_in_one_job_after_another(alone):
    plain, model = small.model(), small.model()
    for _ in range(2):
        train(plain, small.sgd(plain), steps=3)
        alone.init()
        train(model, small.distributed(model), steps=3)
        alone.shutdown()
    assert small.close(model, plain)


@pytest.mark.parametrize("options", [{"overlap": False}, {"clip_norm": 0.5}, {}])
@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad_with_and_without_tensors(alone, options, set_to_none):
    plain, model = small.model(), small.model()
    optimizer = small.sgd(plain)
    for step in range(8):
        optimizer.zero_grad()
        small.loss(plain, step).backward()
        if "clip_norm" in options:
            nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        optimizer.step()
    train(model, small.distributed(model, **options), steps=8, set_to_none=set_to_none)
    alone.shutdown()
    assert small.close(model, plain)


def test_is_an_optimizer_of_the_same_class_and_groups(alone):
    model = small.model()
    inner = small.sgd(model)
    optimizer = small.distributed(model, inner)
    assert isinstance(optimizer, torch.optim.SGD)
    assert optimizer.param_groups is inner.param_groups


def test_clipping_by_hand_works_without_overlap(alone):
    model = small.model()
    optimizer = small.distributed(model, overlap=False)
    small.loss(model, 0).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()


def test_clipping_what_has_left_is_an_error_that_says_what_to_do(alone):
    model = small.model()
    optimizer = small.distributed(model, overlap=True)
    small.loss(model, 0).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    with pytest.raises(alone.LeewayError, match="clip_norm=.*overlap=False"):
        optimizer.step()


def test_a_second_backward_is_an_error_that_says_what_to_do(alone):
    model = small.model()
    small.distributed(model)
    small.loss(model, 0).backward()
    with pytest.raises(alone.LeewayError, match="no_sync"):
        small.loss(model, 1).backward()


def test_steps_of_the_torch_optimizer_are_an_error_that_names_the_one_to_keep(alone):
    model = small.model()
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    alone.DistributedOptimizer(plain, model.named_parameters())  # and what it returns is lost
    alone.broadcast_parameters(model.state_dict())
    small.loss(model, 0).backward()
    plain.step()
    plain.zero_grad()
    with pytest.raises(alone.LeewayError, match=r"opt = lw.DistributedOptimizer"):
        small.loss(model, 1).backward()


def test_a_forgotten_zero_grad_is_an_error(alone):
    model = small.model()
    optimizer = small.distributed(model)
    small.loss(model, 0).backward()
    optimizer.step()
    with pytest.raises(alone.LeewayError, match="zero_grad"):
        small.loss(model, 1).backward()


def test_step_inside_no_sync_is_an_error(alone):
    model = small.model()
    optimizer = small.distributed(model)
    with alone.no_sync():
        small.loss(model, 0).backward()
        with pytest.raises(alone.LeewayError, match="no_sync"):
            optimizer.step()


def test_a_closure_is_called_and_its_loss_returned(alone):
    model = small.model()
    optimizer = small.distributed(model)

    def closure():
        optimizer.zero_grad()
        loss = small.loss(model, 0)
        loss.backward()
        return loss

    assert optimizer.step(closure).item() > 0
    assert alone.iteration() == 1


def test_a_skipped_step_changes_nothing_and_is_an_iteration(alone):
    model = small.model()
    optimizer = small.distributed(model, overlap=False)
    small.loss(model, 0).backward()
    optimizer.skip()
    optimizer.synchronize()
    assert alone.iteration() == 1
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), small.model().parameters()))


def test_parameters_read_through_their_module_are_the_newest(alone):
    plain, model = small.model(), small.model()
    train(plain, small.sgd(plain), steps=1)
    train(model, small.distributed(model), steps=1)
    for read in (lambda: model.state_dict()["3.weight"], lambda: list(model.parameters())[2], lambda: model[3].weight,
                 lambda: copy.deepcopy(model)[3].weight, lambda: pickle.loads(pickle.dumps(model))[3].weight):
        assert torch.allclose(read(), plain[3].weight, atol=1e-6)
    torch.save(model, io.BytesIO())


def test_bare_parameters_without_a_module_are_trained(alone):
    weight = nn.Parameter(torch.ones(5))
    optimizer = alone.DistributedOptimizer(torch.optim.SGD([weight], lr=0.5), [("w", weight)])
    alone.broadcast_parameters({"w": weight})
    for _ in range(3):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
    assert weight.tolist() == [-0.5] * 5


def test_gradients_set_by_hand_are_pushed(alone):
    weight = nn.Parameter(torch.ones(2, 3))
    optimizer = alone.DistributedOptimizer(torch.optim.SGD([weight], lr=0.5), [("w", weight)])
    alone.broadcast_parameters({"w": weight})
    weight.grad = torch.arange(6.0).reshape(3, 2).t()  # not contiguous
    optimizer.step()
    assert torch.equal(weight.detach(), 1 - 0.5 * torch.arange(6.0).reshape(3, 2).t())
    assert optimizer.figures()["copied_gradients"] == 1


@pytest.mark.parametrize("model", [
    lambda: nn.LSTM(3, 4, batch_first=True), lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)], ids=["lstm", "attention"])
def test_modules_that_reach_past_their_attributes_see_new_values(alone, model):
    def forward(net, step):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(2, 5, 3 if isinstance(net, nn.LSTM) else 8, generator=generator)
        y = net(x)
        return (y[0] if isinstance(y, tuple) else y).pow(2).mean()

    nets = []
    for wrap in (lambda net: small.sgd(net), small.distributed):
        torch.manual_seed(0)
        net = model()
        optimizer = wrap(net)
        for step in range(6):
            optimizer.zero_grad()
            forward(net, step).backward()
            optimizer.step()
        nets.append(net)
    alone.shutdown()
    assert small.close(nets[1], nets[0])


def watch_pushes(optimizer, monkeypatch):
    """Returns the lists of pushes and of how many left together, which grow from now on."""
    sent, calls, worker = [], [], optimizer._session.worker

    class Watched:
        def __getattr__(self, name):
            if name == "push_all":
                return lambda pushes: sent.extend(pushes) or calls.append(len(pushes)) or worker.push_all(pushes)
            return getattr(worker, name)

    monkeypatch.setattr(optimizer._session, "worker", Watched())
    return sent, calls


def test_small_gradients_leave_together_and_before_step(alone, monkeypatch):
    monkeypatch.setattr("leeway.torch.pushing.HELD_S_MAX", float("inf"))  # however slow this machine is
    model = small.model()
    optimizer = small.distributed(model)
    sent, calls = watch_pushes(optimizer, monkeypatch)
    seen = []
    model[0].weight.register_hook(lambda _: seen.append(len(sent)))  # when all others are ready
    for step in range(2):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        seen.append(len(sent))
        optimizer.step()
        seen.append(len(sent))
    # The first pass does not know that it has seen the last gradient; the second one does.
    assert seen == [0, 0, 6, 6, 12, 12]
    assert calls == [6, 6]  # a call for each would wake the I/O thread for each


def test_a_small_gradient_does_not_wait_for_one_that_comes_late(alone, monkeypatch):
    monkeypatch.setattr("leeway.torch.pushing.HELD_S_MAX", -1.0)  # any gap is too long
    model = small.model()
    optimizer = small.distributed(model, overlap=True)
    _, calls = watch_pushes(optimizer, monkeypatch)
    for step in range(3):
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()
    # The first pass knows no gaps.
    assert calls == [6] + [1] * 12


def test_a_large_gradient_leaves_at_once_and_takes_the_waiting_ones_along(alone, monkeypatch):
    monkeypatch.setattr("leeway.torch.pushing.HELD_BYTES_MAX", 4 * 144 * 10)  # of the linear layer's weight
    model = small.model()
    optimizer = small.distributed(model, overlap=True)
    small.loss(model, 0).backward()
    assert {table.name for table, *_ in optimizer._pushing._held} == {"0.weight", "0.bias"}
