"""Progress: time left by the weight of cells, a bar on a terminal, lines elsewhere."""

import io

from progress import Progress, duration


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_time_left_follows_the_weight_of_cells():
    clock, out = Clock(), io.StringIO()
    progress = Progress(3, 100, out, clock)
    assert progress.left_s() is None
    clock.now = 30
    progress.finished("a", 20, 30)
    assert progress.left_s() == 120
    clock.now = 60
    progress.finished("b", 70, 30)
    assert out.getvalue() == ("papers: 1 of 3 cells, 2:00 min left: a: 30 s\n"
                              "papers: 2 of 3 cells, 7 s left: b: 30 s\n")


def test_a_terminal_has_one_line():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock, out = Clock(), Terminal()
    progress = Progress(2, 2, out, clock)
    clock.now = 1
    progress.finished("a", 1, 1)
    progress.close()
    assert "\n" not in out.getvalue() and "[############............] 1 of 2 cells, 1 s left: a" in out.getvalue()


def test_durations():
    assert [duration(seconds) for seconds in (0.4, 59.4, 61, 3700)] == ["0 s", "59 s", "1:01 min", "1:01 h"]
