"""Progress of the cells: a bar on a terminal, a line for each cell elsewhere."""

import shutil
import sys
import time

BAR = 24


def duration(seconds):
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02d} h" if minutes >= 60 else f"{minutes}:{seconds:02d} min"


class Progress:
    """Judges the time left by the weight of cells: how much work each is."""

    def __init__(self, cells, total_weight, out=None, now=time.monotonic):
        self._out = out or sys.stderr
        self._now = now
        self._began = now()
        self._cells, self._total = cells, total_weight
        self._done, self._weight = 0, 0.0
        self._bar = self._out.isatty()

    def left_s(self):
        """None: nothing is done yet."""
        if self._weight <= 0:
            return None
        return (self._now() - self._began) * (self._total - self._weight) / self._weight

    def finished(self, name, weight, wall_s):
        self._done += 1
        self._weight += weight
        left = self.left_s()
        text = f"{self._done} of {self._cells} cells" + ("" if left is None else f", {duration(left)} left")
        if not self._bar:
            self._say(f"papers: {text}: {name}: {duration(wall_s)}\n")
            return
        full = round(BAR * self._weight / self._total) if self._total > 0 else BAR
        line = f"[{'#' * full}{'.' * (BAR - full)}] {text}: {name}"
        self._say("\r\033[K" + line[:shutil.get_terminal_size().columns - 1])

    def close(self):
        if self._bar and self._done:
            self._say("\r\033[K")

    def _say(self, text):
        self._out.write(text)
        self._out.flush()
