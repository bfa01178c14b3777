"""Values that a script writes itself while it trains: constraints on the servers, lw.assign(), and the warning for the rest."""

import warnings

import pytest
import small
import torch

import leeway.torch as lw
from leeway import errors

STEPS = 6


def clamp(model, low=-0.05, high=0.02):
    for parameter in model.parameters():
        parameter.data.clamp_(low, high)


def train(model, optimizer, steps, after=None):
    for step in steps:
        optimizer.zero_grad()
        small.loss(model, step).backward()
        optimizer.step()
        if after is not None:
            after(model)


def test_a_constraint_does_what_clamping_after_every_step_does(alone):
    model, plain = small.model(), small.model()
    clamp(plain)  # the initial values as well
    optimizer = small.distributed(model, constraint="clamp:-0.05,0.02")
    assert small.close(model, plain)
    train(model, optimizer, range(STEPS))
    train(plain, small.sgd(plain), range(STEPS), after=clamp)
    assert small.close(model, plain)
    optimizer.synchronize()
    assert all(p.min() >= -0.05 and p.max() <= 0.02 for p in model.parameters())


def test_a_constraint_by_name_holds_for_those_alone(alone):
    model = small.model()
    optimizer = small.distributed(model, small.sgd(model, lr=1.0), constraint={"0.*": "clamp:-0.01,0.01", "3.bias": "clamp:0,1"})
    train(model, optimizer, range(STEPS))
    optimizer.synchronize()
    assert model[0].weight.abs().max() <= 0.01 and model[3].bias.min() >= 0 and model[3].weight.abs().max() > 0.01


@pytest.mark.parametrize(["constraint", "text"], [
    ("clamp:1,-1", "high"), ("clip:0,1", 'unknown constraint "clip"; known: clamp'), ({"nobody.*": "clamp:0,1"}, r"nobody\.\*")])
def test_a_wrong_constraint_is_named_when_the_optimizer_is_made(alone, constraint, text):
    with pytest.raises(lw.LeewayError, match=text):
        small.distributed(small.model(), constraint=constraint)


def test_assigned_values_are_trained_on(alone):
    model, plain = small.model(), small.model()
    optimizer = small.distributed(model)

    def assign(trained):
        clamp(trained)
        lw.assign(trained.parameters())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model, optimizer, range(STEPS), after=assign)
    train(plain, small.sgd(plain), range(STEPS), after=clamp)
    assert small.close(model, plain)
    assert optimizer.figures()["assigned_parameters"] == STEPS * 6


def test_an_assign_at_the_wrong_time_or_of_something_else_is_an_error(alone):
    model = small.model()
    optimizer = small.distributed(model)
    with pytest.raises(errors.InvalidArgument, match="no DistributedOptimizer trains"):
        lw.assign(torch.zeros(3))
    weight = model[0].weight
    small.loss(model, 0).backward()
    optimizer.step()
    weight.data.zero_()  # past the module: the newest values were not waited for
    with pytest.raises(errors.FailedPrecondition, match="synchronize"):
        lw.assign(weight)
    optimizer.zero_grad()
    small.loss(model, 1).backward()
    with pytest.raises(errors.FailedPrecondition, match=r"between step\(\) and backward\(\)"):
        lw.assign(model[0].weight)


def test_a_write_through_data_is_noticed_once_and_names_both_ways(alone):
    model = small.model()
    optimizer = small.distributed(model)
    with pytest.warns(RuntimeWarning, match=r"through \.data .*constraint=\"clamp:.*lw\.assign\(parameter\)") as seen:
        train(model, optimizer, range(STEPS), after=clamp)
    assert len([warning for warning in seen if issubclass(warning.category, RuntimeWarning)]) == 1
    assert optimizer.figures()["overwritten_parameters"] > 1


def test_a_script_that_writes_nothing_is_not_warned(alone):
    model = small.model()
    optimizer = small.distributed(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model, optimizer, range(70))
    assert optimizer.figures()["overwritten_parameters"] == 0


def test_a_write_long_after_the_first_steps_is_noticed_too(alone):
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(10))
    with pytest.warns(RuntimeWarning, match=r"through \.data"):
        train(model, optimizer, range(70), after=clamp)
