"""GradScaler and bf16 autocast in a job of one process, against plain torch."""

import sys
import warnings
from pathlib import Path

import pytest
import small
import torch

sys.path.append(str(Path(__file__).resolve().parents[1] / "cluster" / "programs"))
from amp_loop import STEPS, make_model, train  # noqa: E402: below the path
from own_scaler import OwnScaler  # noqa: E402

from leeway import errors  # noqa: E402


@pytest.mark.parametrize("apply", [None, "relay"])
@pytest.mark.parametrize("clip", [False, True])
def test_a_scaler_skips_and_scales_as_with_plain_torch(alone, clip, apply):
    plain, model = make_model(), make_model()
    wanted, got = OwnScaler(4096.0), OwnScaler(4096.0)
    train(plain, small.sgd(plain), wanted, [1], clip)
    optimizer = small.distributed(model, apply=apply)
    train(model, optimizer, got, [1], clip)
    assert optimizer.steps == STEPS and got.get_scale() == wanted.get_scale() == 1024.0
    alone.shutdown()
    assert small.close(model, plain)


def test_gradients_that_have_left_cannot_be_unscaled(alone):
    model = make_model()
    with pytest.raises(errors.FailedPrecondition, match="GradScaler: backward.. has pushed.*overlap=False"):
        train(model, small.distributed(model, overlap=True), OwnScaler(2.0), [0])


def test_torchs_own_scaler_that_is_off_changes_nothing(alone):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler = torch.cuda.amp.GradScaler(enabled=False)
    plain, model = small.model(), small.model()
    for net, optimizer in ((plain, small.sgd(plain)), (model, small.distributed(model))):
        for step in range(3):
            optimizer.zero_grad()
            scaler.scale(small.loss(net, step)).backward()
            scaler.step(optimizer)
            scaler.update()
    alone.shutdown()
    assert small.close(model, plain)
