"""The state that a rank keeps in checkpoints by itself and by register_state(), with a worker that the test plays."""

import random

import numpy as np
import pytest
import torch
from torch import nn

import leeway
import leeway.torch as lw
from leeway import plain_state
from leeway.errors import AlreadyExists, InvalidArgument
from leeway.rank_state import RankState
from leeway.torch.local_state import LocalState


class Played:
    """A worker as far as RankState sees it."""

    def __init__(self, restored=None):
        self.restored, self.given, self.wanted = restored, [], False

    def restored_state(self):
        return self.restored

    def iteration(self):
        return 7

    def state_wanted(self):
        return self.wanted

    def give_state(self, state):
        self.given.append(state)
        self.wanted = False


class PlayedSession:
    def __init__(self, restored=None):
        self.worker = Played(restored)
        self.state = RankState(self.worker)
        self.optimizers, self.torch_state = [], None


def life(restored=None, lr=0.1):
    """A session with an optimizer, a buffer and a schedule."""
    session = PlayedSession(restored)
    parameter = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=lr)
    session.optimizers.append(optimizer)
    session.torch_state = LocalState(session)
    session.torch_state.buffers["mean"] = torch.zeros(2)
    session.schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    session.state.add("schedule", session.schedule.state_dict, session.schedule.load_state_dict)
    return session


def draw():
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_the_next_life_goes_on_with_the_same_numbers():
    torch.manual_seed(3)
    first = life()
    first.state.begin_loop()
    for _ in range(3):
        draw()
        first.schedule.optimizer.step()
        first.schedule.step()
    first.torch_state.buffers["mean"].add_(torch.tensor([1.5, 2.5]))
    first.worker.wanted = True
    first.state.give_if_wanted()
    first.state.give_if_wanted()
    assert len(first.worker.given) == 1, "once"
    after = draw(), first.schedule.get_last_lr()

    torch.manual_seed(99)
    random.seed(99)
    second = life(first.worker.given[0])
    draw()  # whatever a script draws before its loop
    second.state.begin_loop()
    assert draw() == after[0]
    assert second.torch_state.buffers["mean"].tolist() == [1.5, 2.5]
    assert second.schedule.optimizer.param_groups[0]["lr"] == 0.05
    second.schedule.optimizer.step()
    second.schedule.step()
    assert second.schedule.optimizer.param_groups[0]["lr"] == 0.025


def test_a_script_is_told_which_iteration_its_state_is_of():
    first = RankState(Played())
    assert first.restored_iteration is None
    first.give()
    assert RankState(Played(first._worker.given[0])).restored_iteration == 7


def test_outside_of_iterations_the_state_is_taken_at_the_end_of_a_step():
    session = life()
    session.state.ended_iteration(False)
    assert not session.worker.given
    session.state.ended_iteration(True)
    assert len(session.worker.given) == 1
    session.state.begin_loop()
    session.state.ended_iteration(True)
    assert len(session.worker.given) == 1, "the next pass of the loop gives it"


def test_once_training_has_begun_nothing_is_put_back():
    given = life()
    given.state.give()
    session = life(given.worker.given[0])
    session.state.ended_iteration(False)
    session.schedule.optimizer.param_groups[0]["lr"] = 7
    session.state.restore_own()
    assert session.schedule.optimizer.param_groups[0]["lr"] == 7


def test_a_state_that_nobody_registers_is_warned_of_and_kept():
    session = life()
    session.state.add("mine", lambda: 5, lambda value: None)
    session.state.give()
    again = life(session.worker.given[0])
    with pytest.warns(UserWarning, match="mine"):
        again.state.begin_loop()
    again.state.give()
    assert plain_state.decode(again.worker.given[0])["parts"]["mine"] == 5


def test_a_buffer_of_another_shape_is_refused():
    session = life()
    session.torch_state.buffers["mean"] = torch.zeros(3)
    session.state.give()
    with pytest.raises(InvalidArgument, match=r"mean: got \[3\]"):
        life(session.worker.given[0]).state.begin_loop()


class Counting:
    def __init__(self):
        self.position = 0

    def state_dict(self):
        return {"position": self.position}

    def load_state_dict(self, state):
        self.position = state["position"]


def test_register_state_takes_what_has_a_state(alone):
    assert not alone.register_state("sampler", Counting())
    assert not alone.register_state("generator", torch.Generator())
    assert not alone.register_state("numpy", np.random.default_rng(1))
    assert not alone.register_state("module", nn.BatchNorm1d(3))
    assert not alone.register_state("calls", save=lambda: 1, load=lambda value: None)
    from leeway import session
    kept = []
    session.current().state._worker = Keeping(kept)
    session.current().state.give()
    parts = plain_state.decode(kept[0])["parts"]
    assert parts["sampler"] == {"position": 0} and parts["calls"] == 1
    assert set(parts["module"]) == {"running_mean", "running_var", "num_batches_tracked"}


class Keeping:
    def __init__(self, kept):
        self.give_state = kept.append

    def iteration(self):
        return 3


def test_register_state_refuses_what_has_none(alone):
    with pytest.raises(InvalidArgument, match="'thing' is a int"):
        alone.register_state("thing", 3)
    with pytest.raises(InvalidArgument, match="both save= and load="):
        alone.register_state("thing", save=lambda: 1)
    with pytest.raises(InvalidArgument, match="name"):
        alone.register_state("", Counting())
    alone.register_state("twice", Counting())
    with pytest.raises(AlreadyExists, match="twice"):
        alone.register_state("twice", Counting())


@pytest.mark.parametrize("make, use", [
    (lambda: torch.Generator().manual_seed(5), lambda g: torch.rand(1, generator=g).item()),
    (lambda: np.random.default_rng(5), lambda g: g.random()),
])
def test_generators_go_on(make, use):
    from leeway.loop import _calls_of
    one = make()
    use(one)
    saved = plain_state.decode(plain_state.encode(_calls_of("g", one)[0]()))
    two = make()
    _calls_of("g", two)[1](saved)
    assert use(one) == use(two)


def test_iterations_follow_the_job(alone):
    assert leeway.iterations is lw.iterations
    model = nn.Linear(2, 1)
    optimizer = lw.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), model.named_parameters())
    lw.broadcast_parameters(model.state_dict())
    seen = []
    for iteration in lw.iterations(4):
        seen.append((iteration, lw.iteration()))
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert seen == [(i, i) for i in range(4)] and lw.iteration() == 4
    assert list(lw.iterations(4)) == []
