#!/usr/bin/env python3
"""Draws leeway.svg, the picture of the README: what talks to what, and what leeway buys.

The right half is computed, not invented: four workers with the same draw of compute times under bsp and under ssp:2,
by the rule that Leeway's blocks use (a pull of progress p is answered when p < v_train + s).

    python3 docs/pictures/leeway.py > docs/pictures/leeway.svg
"""

import random

WORKERS, ITERATIONS = 4, 9
INK, SOFT, PAPER = "#1f2a37", "#6b7785", "#ffffff"
BLUE, ORANGE, GREEN, WAIT, LINE = "#3b6fb6", "#e08a2e", "#3f9a6c", "#e3e7ec", "#c9d1da"
SHADES = ["#3b6fb6", "#6f98d1"]


def compute_times():
    """Mostly one unit, now and then three to four: a neighbour, a page cache, a collection."""
    draw = random.Random(22)
    return [[draw.uniform(0.85, 1.15) + (draw.uniform(1.8, 2.8) if draw.random() < 0.17 else 0) for _ in range(ITERATIONS)]
            for _ in range(WORKERS)]


def schedule(times, s):
    """(start, end) of every iteration of every worker: i may start once all have finished i - 1 - s."""
    ends = [[0.0] * ITERATIONS for _ in range(WORKERS)]
    spans = [[] for _ in range(WORKERS)]
    for i in range(ITERATIONS):
        gate = max(ends[w][i - 1 - s] for w in range(WORKERS)) if i - 1 - s >= 0 else 0.0
        for w in range(WORKERS):
            start = max(gate, ends[w][i - 1] if i else 0.0)
            ends[w][i] = start + times[w][i]
            spans[w].append((start, ends[w][i]))
    return spans


class Drawing:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                      'font-family="DejaVu Sans, Verdana, sans-serif" font-size="13">',
                      f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>',
                      '<defs>' + "".join(f'<marker id="to-{c[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                                         f'orient="auto"><path d="M0,0.8 L7.5,4 L0,7.2 z" fill="{c}"/></marker>'
                                         for c in (BLUE, ORANGE, SOFT)) + '</defs>']

    def box(self, x, y, w, h, fill, stroke=None, rx=7):
        edge = f' stroke="{stroke}" stroke-width="1.3"' if stroke else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{rx}" fill="{fill}"{edge}/>')

    def text(self, x, y, words, size=13, fill=INK, anchor="middle", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
                          f'font-weight="{weight}">{words}</text>')

    def arrow(self, x1, y1, x2, y2, color, dash=""):
        style = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="1.8"{style} '
                          f'marker-end="url(#to-{color[1:]})"/>')

    def line(self, x1, y1, x2, y2, color=LINE, width=1.0, dash=""):
        style = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{style}/>')

    def print(self):
        print("\n".join(self.parts + ["</svg>"]))


def draw_job(d):
    """Scheduler above, workers left, servers with their blocks right."""
    d.box(150, 24, 180, 48, "#f3f5f8", SOFT)
    d.text(240, 45, "scheduler", weight="bold")
    d.text(240, 62, "members, placement, batches", 11, SOFT)
    for w in range(WORKERS):
        y = 118 + 66 * w
        d.box(24, y, 132, 48, "#eaf1fa", BLUE)
        d.text(90, y + 21, f"worker {w}", weight="bold")
        d.text(90, y + 38, "PyTorch" if w < 3 else "PyTorch, slow today", 11, SOFT)
    for s in range(2):
        y = 118 + 132 * s
        d.box(320, y, 150, 114, "#fdf3e7", ORANGE)
        d.text(395, y + 20, f"server {s}", weight="bold")
        for b in range(4):
            x, at = 332 + 65 * (b % 2), y + 32 + 38 * (b // 2)
            d.box(x, at, 59, 32, PAPER, ORANGE, 4)
            d.text(x + 29.5, at + 20, f"block {2 * b + s}", 11)
    for w, (y, to) in enumerate(((134, 150), (200, 190), (266, 282), (332, 322))):
        d.arrow(158, y, 317, to, BLUE)
        d.arrow(318, to + 15, 159, y + 15, ORANGE)
    d.line(90, 116, 90, 48, SOFT, 1.2, "4 4")
    d.arrow(90, 48, 148, 48, SOFT, "4 4")
    d.line(395, 116, 395, 48, SOFT, 1.2, "4 4")
    d.arrow(395, 48, 332, 48, SOFT, "4 4")
    d.line(24, 393, 52, 393, BLUE, 3)
    d.text(60, 397, "push gradients, ask for values (every worker, every server)", 12, INK, "start")
    d.line(24, 415, 52, 415, ORANGE, 3)
    d.text(60, 419, "verdict; values, when the block's own rule says so", 12, INK, "start")


def draw_timeline(d, x, y, width, unit, title, note, spans):
    d.text(x, y, title, 14, INK, "start", "bold")
    d.text(x + width, y, note, 12, SOFT, "end")
    for w, spans_of in enumerate(spans):
        top = y + 14 + 27 * w
        d.text(x - 8, top + 15, f"w{w}", 11, SOFT, "end")
        d.box(x, top, unit * spans_of[-1][1], 20, WAIT, None, 3)
        for i, (start, end) in enumerate(spans_of):
            d.box(x + unit * start, top, unit * (end - start) - 1, 20, SHADES[i % 2], None, 3)
            d.text(x + unit * (start + end) / 2, top + 14, str(i), 10, "#ffffff")
    done = max(spans_of[-1][1] for spans_of in spans)
    d.line(x + unit * done, y + 8, x + unit * done, y + 126, GREEN, 2)
    return done


def main():
    times = compute_times()
    bsp, ssp = schedule(times, 0), schedule(times, 2)
    longest = max(spans[-1][1] for spans in bsp)
    x, width = 560, 416
    unit = width / longest
    d = Drawing(1000, 440)
    draw_job(d)
    d.line(505, 24, 505, 416)

    def waits(spans):
        idle = sum(spans_of[-1][1] - sum(end - start for start, end in spans_of) for spans_of in spans)
        return 100 * idle / sum(spans_of[-1][1] for spans_of in spans)

    draw_timeline(d, x, 44, width, unit, "bsp: everyone waits for the slowest of every step", "", bsp)
    done = draw_timeline(d, x, 234, width, unit, "ssp:2: two steps of leeway", "", ssp)
    d.text(x, 194, f"{waits(bsp):.0f} % of the workers' time is waiting", 12, SOFT, "start")
    d.text(x, 384, f"{waits(ssp):.0f} % waiting: the same work in {100 * done / longest:.0f} % of the time", 12, SOFT, "start")
    d.box(x, 404, 14, 14, SHADES[0], None, 3)
    d.text(x + 20, 416, "computing a step", 12, INK, "start")
    d.box(x + 150, 404, 14, 14, WAIT, None, 3)
    d.text(x + 170, 416, "waiting for values", 12, INK, "start")
    d.print()


if __name__ == "__main__":
    main()
