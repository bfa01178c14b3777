"""The picture of a training: loss and accuracy over time."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402: the backend comes first
import numpy as np  # noqa: E402

INK, MUTED, LOSS, ACCURACY, TARGET = "#222222", "#888888", "#3566a8", "#c2571a", "#5a8f5a"


def draw(history, arguments, workers, path):
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, constrained_layout=True)
    figure.suptitle(f"Fashion-MNIST: {_count(workers, 'worker')}, {_count(arguments.epochs, 'epoch')} from one pool "
                    "of batches",
                    fontsize=12, color=INK)
    if history.losses:
        _draw_loss(upper, np.array(history.losses))
    else:
        _caption(upper, "the chief drew no batch, so there is no loss to show")
    _draw_accuracy(lower, np.array(history.accuracies), arguments.min_accuracy)
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(colors=INK, labelsize=9)
    lower.set_xlabel("seconds since the first batch", color=INK)
    lower.set_xlim(0, history.accuracies[-1][0] * 1.1)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _caption(axes, text):
    axes.set_title(text, loc="left", fontsize=9, color=MUTED)


def _draw_loss(axes, losses):
    seconds, loss = losses[:, 0], losses[:, 1]
    axes.plot(seconds, loss, color=LOSS, alpha=0.22, linewidth=0.7)
    width = max(1, len(loss) // 40)
    smooth = np.convolve(loss, np.ones(width) / width, mode="valid")
    axes.plot(seconds[width // 2:][:len(smooth)], smooth, color=LOSS, linewidth=1.8)
    axes.set_ylim(0, min(2.4, np.percentile(loss, 99.5) * 1.1))
    axes.set_ylabel("training loss", color=INK)
    _caption(axes, f"loss of rank 0's batches, and its mean over {width} of them")


def _draw_accuracy(axes, accuracies, target):
    seconds, percent = accuracies[:, 0], 100 * accuracies[:, 1]
    axes.plot(seconds, percent, color=ACCURACY, linewidth=1.8, marker="o", markersize=3.5)
    axes.annotate(f"{percent[-1]:.1f} %", (seconds[-1], percent[-1]), xytext=(7, 0), textcoords="offset points",
                  va="center", color=ACCURACY, fontsize=10, fontweight="bold", annotation_clip=False)
    if target:
        axes.axhline(100 * target, color=TARGET, linewidth=1, linestyle=(0, (5, 3)))
        axes.annotate(f"asked for: {100 * target:g} %", (0, 100 * target), xycoords=("axes fraction", "data"),
                      xytext=(6, 3), textcoords="offset points", color=TARGET, fontsize=9)
    lowest = min([75, percent.min() - 2] + [100 * target - 2] * bool(target))
    axes.set_ylim(max(0, lowest), 94)
    axes.set_ylabel("test accuracy, %", color=INK)
    _caption(axes, "on 1,000 test images while training, on all 10,000 at the end")
