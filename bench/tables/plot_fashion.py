#!/usr/bin/env python3
"""Draws accuracy against sparsity as an SVG, from the results.json of `hewn sweep configs/study/fashion.toml` or a copy of its cells.

  bench/tables/plot_fashion.py bench/results/2026-11-15/fashion.json > docs/figures/fashion-mnist.svg
"""
import json, sys

COLOURS = {"magnitude": "#8c8c8c", "powerprop": "#b58a2e", "acdc": "#2a7ab0", "sa++": "#5b8c3a", "sa++r": "#c0392b"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 125, 40, 50
LOW, HIGH, SPARSITIES = 79.0, 91.0, [0.90, 0.95, 0.98]


def x(i):
    return LEFT + (WIDTH - LEFT - RIGHT) * (0.08 + 0.84 * i / (len(SPARSITIES) - 1))


def y(value):
    return TOP + (HEIGHT - TOP - BOTTOM) * (HIGH - value) / (HIGH - LOW)


def main():
    cells = {}  # at blocks of 16, 10 epochs; the dense model is the same in all of them
    for cell in json.load(open(sys.argv[1]))["cells"]:
        at = cell["at"]
        if (at["block"], at["epochs"]) == ("16", "10"):
            cells[at["method"], float(at["sparsity"])] = cell
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="22" font-weight="bold">Fashion-MNIST, mlp 784-1024-1024-10, 16x16 blocks, 10 epochs, 3 seeds</text>']
    for value in range(80, 92, 2):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#e4e4e4"/>'
                   f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value} %</text>')
    for i, s in enumerate(SPARSITIES):
        out.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{100 * s:.0f} %</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">block sparsity</text>')
    dense = cells["dense", SPARSITIES[0]]["mean"]
    out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(dense):.1f}" y2="{y(dense):.1f}" stroke="#000" stroke-dasharray="5 4"/>'
               f'<text x="{WIDTH - RIGHT + 8}" y="{y(dense) - 2:.1f}">dense {dense:.1f}</text>')
    for method, colour in COLOURS.items():
        row = [cells[method, s] for s in SPARSITIES]
        points = " ".join(f"{x(i):.1f},{y(c['mean']):.1f}" for i, c in enumerate(row))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for i, c in enumerate(row):
            out.append(f'<line x1="{x(i):.1f}" x2="{x(i):.1f}" y1="{y(c["mean"] - c["sd"]):.1f}" y2="{y(c["mean"] + c["sd"]):.1f}" stroke="{colour}"/>'
                       f'<circle cx="{x(i):.1f}" cy="{y(c["mean"]):.1f}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y(row[-1]["mean"]) + 5:.1f}" fill="{colour}">{method} {row[-1]["mean"]:.1f}</text>')
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    main()
