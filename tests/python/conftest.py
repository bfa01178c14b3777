"""Each test runs alone: a job of this one process, made and ended around it."""

import pytest
import torch

import leeway.torch as lw


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def alone():
    lw.init()
    yield lw
    lw.shutdown()
