"""Parts of the examples that a usual run does not reach, and short runs of the others on generated data."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_data import TRAIN, write_cifar, write_mnist

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_picture_is_drawn_also_when_the_chief_drew_no_batch(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    import fashion_mnist_plot

    history = SimpleNamespace(losses=[], accuracies=[(1.0, 0.8)])
    fashion_mnist_plot.draw(history, SimpleNamespace(epochs=1, min_accuracy=0.0), 4, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 0


@pytest.mark.parametrize("name, extra, says", [("resnet_cifar10", ["--blocks", "1"], "test accuracy"),
                                               ("transformer_text", ["--width", "8", "--length", "8"], "it writes: "),
                                               ("gan_fashion_mnist", [], "loss .* of the generator")])
def test_an_example_trains_on_a_little_data(tmp_path, monkeypatch, capsys, name, extra, says):
    write_cifar(tmp_path, [*TRAIN, "test_batch.bin"])
    write_mnist(tmp_path, labels=[1, 2, 3, 4, 5, 6])
    (tmp_path / "text").write_text("a text of few letters, " * 6)
    data = tmp_path / "text" if name == "transformer_text" else tmp_path
    command = [name, "--epochs", "2", "--batch", "4", "--lr", "0.01", "--samples", "6", "--data", str(data), *extra]
    monkeypatch.setattr(sys, "argv", command)
    path = EXAMPLES / f"{name}.py"
    script = {"__name__": "example", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), script)
    assert script["main"]() == 0
    out = capsys.readouterr().out
    assert "epoch 2/2" in out and re.search(says, out), out


def test_examples_are_short():
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text().splitlines()) < 150 or path.name == "fashion_mnist.py", path
