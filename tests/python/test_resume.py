"""Saving and resuming alone, in every direction between Leeway and plain torch; what a script loads before its first step."""

import io
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cluster/programs"))
import saved  # noqa: E402

import leeway.torch as lw  # noqa: E402
from leeway import errors  # noqa: E402

KINDS = saved.kinds(lw.LARS)
BEFORE, AFTER = range(saved.STEPS), range(saved.STEPS, 2 * saved.STEPS)


def wrap(model, optimizer, **options):
    optimizer = lw.DistributedOptimizer(optimizer, model.named_parameters(), **options)
    lw.broadcast_parameters(model.state_dict())
    return optimizer


def trained(name, file, seed, steps, plain, save=True):
    """Loads `file` if there is something in it, trains, saves if asked. Gives the losses."""
    kind, options = KINDS[name]
    model = saved.make_model(seed)
    optimizer = kind(model.parameters(), **options)
    if not plain:
        lw.init()
        optimizer = wrap(model, optimizer)
    if file.getbuffer().nbytes:
        file.seek(0)
        assert saved.load(file, model, optimizer) == 1
    losses = saved.train(model, optimizer, steps)
    if save:
        saved.save(file, model, optimizer)
    if not plain:
        lw.shutdown()
    return losses


@pytest.mark.parametrize("name", KINDS)
def test_the_loss_goes_on_whoever_saved_and_whoever_loads(name):
    file, wanted = io.BytesIO(), None
    trained(name, file, 1, BEFORE, plain=True)
    wanted = trained(name, io.BytesIO(file.getvalue()), 2, AFTER, plain=True, save=False)
    ours = io.BytesIO()
    trained(name, ours, 1, BEFORE, plain=False)
    for source in (file, ours):
        for plain in (False, True):
            losses = trained(name, io.BytesIO(source.getvalue()), 2, AFTER, plain, save=False)
            assert losses == pytest.approx(wanted, rel=2e-6), (source is ours, plain)


def resumed(name="adam"):
    file = io.BytesIO()
    trained(name, file, 1, BEFORE, plain=True)
    file.seek(0)
    return torch.load(file)


def test_state_that_was_loaded_before_wrapping_counts(alone):
    checkpoint = resumed()
    model, plain = saved.make_model(2), saved.make_model(2)
    kind, options = KINDS["adam"]
    for trained_one in (model, plain):
        trained_one.load_state_dict(checkpoint["state_dict"])
    optimizer, plain_optimizer = kind(model.parameters(), **options), kind(plain.parameters(), **options)
    for one in (optimizer, plain_optimizer):
        one.load_state_dict(checkpoint["optimizer"])
    losses = saved.train(model, wrap(model, optimizer), AFTER)
    assert losses == pytest.approx(saved.train(plain, plain_optimizer, AFTER), rel=2e-6)


def test_it_is_announced_and_seen_before_the_first_step(alone, capfd):
    checkpoint = resumed()
    model = saved.make_model(2)
    kind, options = KINDS["adam"]
    optimizer = wrap(model, kind(model.parameters(), **options))
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    again = optimizer.state_dict()
    assert torch.equal(again["state"][0]["exp_avg"], checkpoint["optimizer"]["state"][0]["exp_avg"])
    assert capfd.readouterr().err == ""
    model(torch.zeros(1, 6))
    assert capfd.readouterr().err.count("rank 0's values of 4 parameters and optimizer state of 4 parameters") == 1
    fetched = optimizer.state_dict()
    for index, state in checkpoint["optimizer"]["state"].items():
        for key, value in state.items():
            assert torch.equal(fetched["state"][index][key], value), key
    assert fetched["param_groups"] == checkpoint["optimizer"]["param_groups"]


def test_what_is_loaded_and_never_trained_is_what_the_job_ends_with(alone):
    checkpoint = resumed()
    model = saved.make_model(2)
    wrap(model, KINDS["sgd"][0](model.parameters(), lr=0.1))
    model.load_state_dict(checkpoint["state_dict"])
    with torch.no_grad():
        model(torch.zeros(1, 6))
    lw.shutdown()
    assert all(torch.equal(value, checkpoint["state_dict"][name]) for name, value in model.state_dict().items())


def test_values_written_past_the_version_before_the_first_step_count(alone):
    model = saved.make_model(2)
    optimizer = wrap(model, KINDS["sgd"][0](model.parameters(), lr=0.0))
    for parameter in model.parameters():
        parameter.data.fill_(0.5)
    saved.train(model, optimizer, range(1))
    assert all((parameter == 0.5).all() for parameter in model.parameters())


def test_loading_after_the_first_step_says_when_it_can_be_done(alone):
    checkpoint = resumed()
    model = saved.make_model(2)
    optimizer = wrap(model, KINDS["adam"][0](model.parameters(), lr=0.01))
    saved.train(model, optimizer, range(1))
    with pytest.raises(errors.FailedPrecondition, match="load before that"):
        optimizer.load_state_dict(checkpoint["optimizer"])
    groups = {"state": {}, "param_groups": optimizer.state_dict()["param_groups"]}
    groups["param_groups"][0]["lr"] = 0.5
    optimizer.load_state_dict(groups)
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert optimizer.state_dict()["state"][0]["step"] == 1, "the servers' state is as it was"


@pytest.mark.parametrize(["spoil", "text"], [
    (lambda state: state[0].update(exp_avg=torch.zeros(3)), r"exp_avg of 0\.weight: got \[3\], wanted \[8, 6\]"),
    (lambda state: state[1].update(exp_avg_sq=torch.full((8,), float("nan"))), r"exp_avg_sq of 0\.bias: has a NaN")])
def test_a_state_of_another_model_is_refused_by_name(alone, spoil, text):
    checkpoint = resumed()
    spoil(checkpoint["optimizer"]["state"])
    model = saved.make_model(2)
    optimizer = wrap(model, KINDS["adam"][0](model.parameters(), lr=0.01))
    with pytest.raises(errors.InvalidArgument, match=text):
        optimizer.load_state_dict(checkpoint["optimizer"])


def test_a_state_after_the_end_is_an_error_and_not_empty():
    lw.init()
    model = saved.make_model(2)
    optimizer = wrap(model, KINDS["adam"][0](model.parameters(), lr=0.01))
    saved.train(model, optimizer, range(1))
    lw.shutdown()
    with pytest.raises(errors.FailedPrecondition, match="call it before"):
        optimizer.state_dict()
