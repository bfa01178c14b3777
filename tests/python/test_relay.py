"""apply="relay" in a job of one process: the script's own optimizer steps, as without Leeway."""

import copy

import pytest
import small
import torch
from torch import nn
from torch.nn import functional as F

import leeway.torch as lw
from leeway import session
from leeway.errors import FailedPrecondition, InvalidArgument, Unavailable


class Own(torch.optim.SGD):
    """An optimizer of a script's own."""


KINDS = {
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.5),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.05),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "maximize": lambda p: torch.optim.SGD(p, lr=0.01, maximize=True),
    "own": lambda p: Own(p, lr=0.1, momentum=0.9),
}


def same(a, b):
    return all(map(torch.equal, a.parameters(), b.parameters()))


def train(model, optimizer, steps):
    for step in steps:
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimizer_that_servers_do_not_know_steps_as_without_leeway(alone, kind, capfd):
    plain, model = small.model(), small.model()
    train(plain, KINDS[kind](plain.parameters()), range(5))
    optimizer = small.distributed(model, KINDS[kind](model.parameters()))
    assert isinstance(optimizer, type(KINDS[kind](plain.parameters())))
    train(model, optimizer, range(5))
    assert same(model, plain)
    said = capfd.readouterr().err
    assert said.count("the servers cannot step as") == 1 and 'apply="relay"' in said and "ranks wait for each other" in said
    lw.shutdown()
    assert same(model, plain)


def test_relay_is_silent_where_it_was_asked_for(alone, capfd):
    plain, model = small.model(), small.model()
    train(plain, small.sgd(plain), range(3))
    train(model, small.distributed(model, apply="relay"), range(3))
    assert same(model, plain)
    assert not capfd.readouterr().err


def test_relay_as_the_apply_mode_of_the_job():
    lw.init(apply="relay")
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(2))
    assert optimizer.state_dict()["state"], "the state is here"
    lw.shutdown()


def test_schedulers_and_groups_are_torchs_own(alone):
    plain, model = small.model(), small.model()

    def run(model, wrap):
        parameters = list(model.parameters())
        optimizer = torch.optim.NAdam([{"params": parameters[:2], "lr": 0.02}, {"params": parameters[2:], "weight_decay": 0.1}])
        optimizer = wrap(optimizer)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
        for step in range(5):
            train(model, optimizer, [step])
            schedule.step()
        return optimizer

    run(plain, lambda optimizer: optimizer)
    optimizer = run(model, lambda optimizer: small.distributed(model, optimizer))
    assert same(model, plain)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.005)


def test_state_comes_out_and_goes_in(alone):
    plain = small.model()
    optimizer = torch.optim.NAdam(plain.parameters())
    train(plain, optimizer, range(3))
    before = copy.deepcopy(plain)
    saved = copy.deepcopy(optimizer.state_dict())
    train(plain, optimizer, range(3, 6))
    wrapped = small.distributed(before, torch.optim.NAdam(before.parameters()))
    wrapped.load_state_dict(saved)
    train(before, wrapped, range(3, 6))
    assert same(before, plain)
    wanted, got = optimizer.state_dict(), wrapped.state_dict()
    assert got["param_groups"] == wanted["param_groups"]
    for index, state in wanted["state"].items():
        assert all(torch.equal(torch.as_tensor(got["state"][index][key]), torch.as_tensor(value)) for key, value in state.items())


def test_a_closure_ends_an_iteration_with_each_evaluation(alone):
    def fit(wrap):
        torch.manual_seed(0)
        x = torch.linspace(-1, 1, 40)[:, None]
        model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        optimizer = wrap(model, torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, line_search_fn="strong_wolfe"))
        losses = []
        for _ in range(4):
            def closure():
                optimizer.zero_grad()
                loss = F.mse_loss(model(x), x.sin() * 3)
                loss.backward()
                return loss
            losses.append(float(optimizer.step(closure)))
        return model, optimizer, losses

    plain, _, wanted = fit(lambda _, optimizer: optimizer)
    model, optimizer, got = fit(small.distributed)
    assert got == wanted and same(model, plain)
    assert optimizer.steps == lw.iteration() > 8


def test_means_can_be_taken_without_a_step(alone):
    """A SAM-like loop: two gradients in one step, and clipping of the mean."""
    def run(model, optimizer, exchange):
        for step in range(4):
            optimizer.zero_grad()
            small.loss(model, step).backward()
            exchange()
            moved = [p.grad.clone().mul_(0.1) for p in model.parameters()]
            with torch.no_grad():
                for p, by in zip(model.parameters(), moved):
                    p.add_(by)
            optimizer.zero_grad()
            small.loss(model, step).backward()
            with torch.no_grad():
                for p, by in zip(model.parameters(), moved):
                    p.sub_(by)
            exchange()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()

    plain, model = small.model(), small.model()
    run(plain, small.sgd(plain), lambda: None)
    optimizer = small.distributed(model, apply="relay", overlap=False)
    run(model, optimizer, optimizer.exchange)
    assert same(model, plain)
    assert lw.iteration() == 8


def test_a_skipped_step_takes_part(alone):
    model = small.model()
    optimizer = small.distributed(model, apply="relay", overlap=False)
    train(model, optimizer, range(2))
    before = copy.deepcopy(model)
    optimizer.zero_grad()
    small.loss(model, 2).backward()
    optimizer.skip()
    assert same(model, before), "no rank had a gradient"
    assert lw.iteration() == 3


def test_a_parameter_without_a_gradient_stays(alone):
    model, unused = small.model(), nn.Parameter(torch.ones(3))
    optimizer = lw.DistributedOptimizer(torch.optim.AdamW([*model.parameters(), unused], lr=0.1, amsgrad=True))
    lw.broadcast_parameters([*((f"parameter{i}", p) for i, p in enumerate([*model.parameters(), unused]))])
    train(model, optimizer, range(2))
    assert torch.equal(unused.detach(), torch.ones(3)), "no decay without a gradient"
    assert unused.grad is None


def test_writes_between_steps_stay(alone):
    model = small.model()
    optimizer = small.distributed(model, apply="relay")
    train(model, optimizer, range(1))
    with torch.no_grad():
        model[0].weight.clamp_(-0.01, 0.01)
    before = model[0].weight.clone()
    small.loss(model, 1)
    assert torch.equal(model[0].weight, before)
    with pytest.raises(FailedPrecondition, match="same write on every rank"):
        lw.assign(model[0].weight)


@pytest.mark.parametrize("options, says", [
    ({"sync": "asp"}, 'needs sync "bsp" \\(got "asp": give DistributedOptimizer sync="bsp"'),
    ({"pull": "partial:0.9,50"}, 'needs pull "full"'),
    ({"exchange": "every:2"}, 'needs exchange "every:1"')])
def test_a_job_that_cannot_have_it_says_what_to_change(options, says):
    lw.init(**options)
    model = small.model()
    with pytest.raises(InvalidArgument, match=says):
        lw.DistributedOptimizer(torch.optim.Adadelta(model.parameters()), model.named_parameters())
    lw.shutdown()


@pytest.mark.parametrize("joined, words, other", [
    (False, {0: 41, 1: 41}, None), (False, {0: 41, 1: 49}, None), (False, {0: 41, 1: 51}, None), (True, {0: 43, 1: 49}, 1),
    (True, {0: 43, 1: 51}, None), (True, {0: 43, 1: 41}, None)])
def test_a_rank_that_steps_with_other_options_ends(alone, joined, words, other):
    """A word is 1, with 2 of a rank that joined, and 8 times the digest of its options."""
    small.distributed(small.model(), apply="relay")
    lockstep = session.current().lockstep
    lockstep._trains, lockstep._joined = words, joined
    if other is None:
        lockstep._check_options()
    else:
        with pytest.raises(Unavailable, match=rf"rank 0 steps with other options \(lr, ...\) than rank {other}"):
            lockstep._check_options()


def test_parameters_made_after_the_first_iteration_take_the_broadcast_also_in_a_job_that_goes_on(alone):
    model = small.model()
    train(model, small.distributed(model, apply="relay"), [0])
    session.current().goes_on = True
    later = nn.Parameter(torch.ones(3))
    optimizer = lw.DistributedOptimizer(torch.optim.SGD([later], lr=1.0), [("later", later)], apply="relay")
    values = optimizer.tables[0].values
    values.broadcast(lend=False)
    later.data.zero_()  # what another rank has
    values.take_broadcast(0)
    assert later.tolist() == [1.0, 1.0, 1.0]


def test_what_relay_lacks_is_refused_by_name(alone):
    model = small.model()
    with pytest.raises(InvalidArgument, match="cannot step as torch.optim.adadelta.Adadelta does, as apply=\"immediate\" asks"):
        lw.DistributedOptimizer(torch.optim.Adadelta(model.parameters()), model.named_parameters(), apply="immediate")
    with pytest.raises(InvalidArgument, match="clamp the parameters after step"):
        lw.DistributedOptimizer(small.sgd(model), model.named_parameters(), apply="relay", constraint="clamp:-1,1")
    small.distributed(model, apply="relay")
    with pytest.raises(FailedPrecondition, match="no rule changes it"):
        lw.set_sync("ssp:3")
    with pytest.raises(InvalidArgument, match="no rule sets apply relay"):
        lw.set_sync("bsp", apply="relay")


def test_layers_that_thaw_and_groups_that_come_later_are_refused(alone):
    model = small.model()
    frozen = next(iter(model.parameters())).requires_grad_(False)
    optimizer = small.distributed(model, apply="relay")
    train(model, optimizer, [0])
    with pytest.raises(FailedPrecondition, match="add_param_group.*add the group before"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(2))]})
    frozen.requires_grad_(True)
    with pytest.raises(FailedPrecondition, match="was frozen.*freeze it afterwards"):
        train(model, optimizer, [1])


def test_a_script_that_clips_by_itself_is_told_once_and_trains_as_without_leeway(alone, capfd):
    plain, model = small.model(), small.model()
    optimizer = small.distributed(model, apply="relay")
    for net, step_of in ((plain, small.sgd(plain)), (model, optimizer)):
        for step in range(3):
            step_of.zero_grad()
            small.loss(net, step).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
            step_of.step()
    assert same(model, plain)
    assert capfd.readouterr().err.count("gradients leave at step()") == 1
