"""The parts of a TableParameter, each with a worker and a session that are played by the test."""

import types

import pytest
import torch
from torch import nn
from torch.utils.dlpack import to_dlpack

from leeway import errors
from leeway.torch.phases import Phases
from leeway.torch.clipping import Clipping
from leeway.torch.pushing import Pushing
from leeway.torch.table_gradient import TableGradient
from leeway.torch.table_parameter import TableParameter
from leeway.torch.table_values import TableValues


class Memory:
    def __init__(self, shape):
        self._tensor = torch.zeros(shape)
        self.address = self._tensor.data_ptr()

    def capsule(self):
        return to_dlpack(self._tensor)


class Played:
    """A worker whose sync() gives the two buffers in turn."""

    def __init__(self):
        self.made, self.syncs, self.assigned = [], 0, []

    def allocate(self, shape, strides):
        del strides
        self.made.append(Memory(list(shape)))
        return self.made[-1]

    def create_table(self, name, shape, **options):
        assert (name, shape, options["first"]) == ("w", [3], self.made[0].address)
        return 7

    def sync(self, table):
        assert table == 7
        self.syncs += 1
        return self.made[self.syncs % 2].address

    def assign(self, table, address, elements, memory):
        self.assigned.append((table, address, elements, memory))


def played():
    session = types.SimpleNamespace(worker=Played(), iteration=0, finished=False)
    session.phases = Phases(session)
    return session


def made(session):
    """The values of a parameter of three ones, with a table."""
    parameter = nn.Parameter(torch.ones(3))
    values = TableValues("w", parameter, session, session.phases, on_child_use=lambda: setattr(session, "child", True))
    values.create_table("", "", "sgd", 0)
    return parameter, values


def pushed(parameter, gradient, value):
    """One iteration: zero_grad(), a backward() that gives `value`, a push."""
    if parameter.grad is None:
        parameter.grad = torch.zeros(3)
    else:
        parameter.grad.zero_()
    parameter.grad.add_(value)
    gradient.on_accumulated()
    slot = gradient.slot_to_push()
    gradient.note_pushed(slot)
    return slot


def test_a_table_is_synced_once_in_an_iteration_and_swaps_its_buffers():
    session = played()
    parameter, values = made(session)
    values.sync()
    assert session.worker.syncs == 0, "it has no values in the job yet"
    values.begin()
    for iteration in range(3):
        session.iteration = iteration
        assert not values.is_synced()
        values.sync()
        values.sync()
        assert session.worker.syncs == iteration + 1 and values.is_synced()
        assert parameter.data_ptr() == session.worker.made[session.worker.syncs % 2].address == values.address


def test_a_parameter_in_other_memory_is_put_back_before_it_is_assigned():
    session = played()
    parameter, values = made(session)
    parameter.data = torch.full((3,), 2.0)
    values.assign()
    memory = session.worker.made[0]
    assert session.worker.assigned == [(7, memory.address, 3, memory)] and parameter.data_ptr() == memory.address
    assert parameter.tolist() == [2.0] * 3 and session.phases.rebound_parameters == 1


def test_other_values_in_other_memory_are_refused_once_all_ranks_agree():
    session = played()
    parameter, values = made(session)
    values.begin()
    values.note_agreed()
    parameter.data = torch.full((3,), 2.0)
    with pytest.raises(errors.FailedPrecondition, match="with other values"):
        values.check_memory()


def test_a_write_through_data_is_noticed_once():
    session = played()
    parameter, values = made(session)
    values.begin()
    values.note_agreed()
    parameter.data.mul_(2)
    with pytest.warns(RuntimeWarning, match="w was written to through .data"):
        values.check_written()
    assert values.checksum is None and session.phases.overwritten_parameters == 1


def test_a_parameter_without_initial_values_is_not_trained():
    _, values = made(played())
    with pytest.raises(errors.FailedPrecondition, match="w has no initial values"):
        values.check_trainable()
    values.begin()
    values.check_trainable()


def test_a_push_that_is_refused_counts_as_none():
    session = played()
    session.optimizers = [None]  # another optimizer has given the first gradients
    table = TableParameter("w", nn.Parameter(torch.ones(3)), 0, "sgd", session, session.phases)
    pushing = Pushing(types.SimpleNamespace(param_groups=[{"lr": 0.1}], samples=1), [table], session, session.phases, None,
                      Clipping(None, None, None))
    table.parameter.grad = torch.ones(3)
    for _ in range(2):
        with pytest.raises(errors.FailedPrecondition, match="w has no initial values"):
            pushing.push(table)
    assert not table.gradient.pushed


def test_a_forked_child_uses_memory_of_its_own():
    session = played()
    parameter, values = made(session)
    values.on_fork()
    values.on_fork()
    values.sync()
    assert parameter.data_ptr() not in values.buffers and session.child and session.worker.syncs == 0


def test_a_forked_child_has_no_values_that_had_not_come():
    session = played()
    _, values = made(session)
    values.begin()
    values.on_fork()
    with pytest.raises(errors.FailedPrecondition, match="had not come"):
        values.sync()


def test_autograd_gets_another_tensor_after_a_push():
    session, parameter = played(), nn.Parameter(torch.ones(3))
    gradient = TableGradient("w", parameter, session.worker, session.phases)
    first = pushed(parameter, gradient, 1.0)
    assert gradient.pushed and first.tensor().tolist() == [1.0] * 3
    gradient.check_unchanged()
    gradient.end_iteration()
    assert not gradient.pushed and not gradient.is_present() and gradient.fresh.holds(parameter.grad)
    second = pushed(parameter, gradient, 2.0)
    assert second is not first and second.holds(parameter.grad) and session.phases.copied_gradients == 0


def test_a_gradient_that_was_edited_after_its_push_is_refused():
    session, parameter = played(), nn.Parameter(torch.ones(3))
    gradient = TableGradient("w", parameter, session.worker, session.phases)
    pushed(parameter, gradient, 1.0)
    parameter.grad.data.mul_(2)  # which leaves the version as it was
    with pytest.raises(errors.FailedPrecondition, match="gradient of w was changed"):
        gradient.check_unchanged()


def test_a_backward_without_zero_grad_is_refused():
    session, parameter = played(), nn.Parameter(torch.ones(3))
    gradient = TableGradient("w", parameter, session.worker, session.phases)
    pushed(parameter, gradient, 1.0)
    gradient.end_iteration()
    parameter.grad.add_(1.0)
    gradient.on_accumulated()
    with pytest.raises(errors.FailedPrecondition, match="w was not zeroed"):
        gradient.check_zeroed()


def test_a_fresh_tensor_is_gone_when_the_job_is_over():
    session, parameter = played(), nn.Parameter(torch.ones(3))
    gradient = TableGradient("w", parameter, session.worker, session.phases)
    pushed(parameter, gradient, 1.0)
    gradient.end_iteration()
    gradient.release()
    assert parameter.grad is None
