"""Parts of the examples that a usual run does not reach."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


def test_the_picture_is_drawn_also_when_the_chief_drew_no_batch(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "path", [str(Path(__file__).resolve().parents[2] / "examples"), *sys.path])
    import fashion_mnist_plot

    history = SimpleNamespace(losses=[], accuracies=[(1.0, 0.8)])
    fashion_mnist_plot.draw(history, SimpleNamespace(epochs=1, min_accuracy=0.0), 4, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 0
