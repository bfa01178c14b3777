#!/usr/bin/env python3
"""Draws architecture.svg: the modules, the includes they may have, and the seam between nodes and the world.

    python3 docs/pictures/architecture.py > docs/pictures/architecture.svg
"""

INK, SOFT, PAPER = "#1f2a37", "#6b7785", "#ffffff"
KINDS = {  # fill, stroke
    "front": ("#f3f5f8", "#6b7785"),
    "world": ("#e9f5ee", "#3f9a6c"),
    "core": ("#eaf1fa", "#3b6fb6"),
    "policy": ("#fdf3e7", "#e08a2e"),
    "ground": ("#f6f1fa", "#8a63b0"),
}
# name: (x, y, width, kind, what it is)
BOXES = {
    "apps/leeway": (40, 30, 190, "front", "the program"),
    "python/": (250, 30, 190, "front", "leeway.torch"),
    "bench/": (460, 30, 140, "front", "measurements"),
    "tests/": (620, 30, 140, "front", "contract, sim, cluster"),
    "process": (40, 130, 340, "world", "nodes on real threads; the Worker client"),
    "sim": (420, 130, 340, "world", "virtual clock, modelled links, seeded faults"),
    "transport": (40, 230, 160, "world", "real Env: sockets, memory"),
    "assembly": (240, 230, 520, "core", "options + Env -> policies -> wired node"),
    "node": (240, 330, 520, "core", "scheduler, server, worker: state machines over Env"),
    "block": (240, 430, 250, "core", "values, ledger, sums, waiting pulls"),
    "wire": (40, 430, 160, "ground", "frames, messages"),
    "monitor": (620, 430, 140, "ground", "figures -> JSON"),
    "sync": (240, 530, 96, "policy", "bsp asp ssp"),
    "optimizer": (346, 530, 96, "policy", "sgd adam ..."),
    "codec": (452, 530, 96, "policy", "later"),
    "exchange": (558, 530, 96, "policy", "every ..."),
    "placement": (664, 530, 96, "policy", "lpt eps ..."),
    "base": (40, 630, 350, "ground", "Status, specs, registry, hash, bytes"),
    "include/leeway": (410, 630, 350, "ground", "public API, Env, every plug-in interface"),
}
HEIGHT = 56
# from (bottom edge) -> to (top edge), with the x on either edge
EDGES = [
    ("process", 120, "transport", 120), ("process", 310, "assembly", 310), ("sim", 590, "assembly", 590),
    ("assembly", 330, "node", 330), ("node", 365, "block", 365), ("node", 690, "monitor", 690),
    ("block", 288, "sync", 288), ("block", 394, "optimizer", 394), ("block", 470, "codec", 490),
    ("transport", 120, "wire", 120), ("wire", 120, "base", 120), ("sync", 288, "base", 288),
]


def box(name):
    x, y, width, kind, what = BOXES[name]
    fill, stroke = KINDS[kind]
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="7" fill="{fill}" stroke="{stroke}" stroke-width="1.3"/>'
            f'<text x="{x + width / 2}" y="{y + 24}" text-anchor="middle" font-weight="bold" fill="{INK}">{name}</text>'
            f'<text x="{x + width / 2}" y="{y + 43}" text-anchor="middle" font-size="11" fill="{SOFT}">{what.replace(">", "&gt;")}</text>')


def arrow(x1, y1, x2, y2):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{SOFT}" stroke-width="1.5" marker-end="url(#to)"/>'


def main():
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="800" height="720" viewBox="0 0 800 720" '
             'font-family="DejaVu Sans, Verdana, sans-serif" font-size="14">',
             f'<rect width="800" height="720" rx="10" fill="{PAPER}"/>',
             f'<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             f'<path d="M0,0.8 L7.5,4 L0,7.2 z" fill="{SOFT}"/></marker></defs>']
    for x in (135, 345, 530, 690):
        parts.append(arrow(x, 30 + HEIGHT, x, 127))
    for source, x1, target, x2 in EDGES:
        parts.append(arrow(x1, BOXES[source][1] + HEIGHT, x2, BOXES[target][1] - 3))
    parts.append(arrow(240, 358, 170, 427))   # node -> wire
    parts.append(arrow(700, 530 + HEIGHT, 700, 627))  # policies -> include
    parts.append(arrow(390, 658, 407, 658))   # base -> include
    # Below this line nothing knows whether the world is real.
    parts.append('<line x1="220" y1="308" x2="785" y2="308" stroke="#3f9a6c" stroke-width="1.5" stroke-dasharray="6 5"/>')
    parts.append('<text x="785" y="302" text-anchor="end" font-size="12" fill="#3f9a6c">Env: below, nothing knows whether the world is real</text>')
    parts += [box(name) for name in BOXES]
    print("\n".join(parts + ["</svg>"]))


if __name__ == "__main__":
    main()
