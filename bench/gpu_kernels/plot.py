#!/usr/bin/env python3
"""Draws the speed-up of products with kept blocks over the dense product against sparsity, beside PyTorch's own, as an SVG.

  bench/gpu_kernels/plot.py bench/results/DATE/gpu-kernels.json > docs/figures/gpu-kernels.svg
"""
import json
import math
import sys

COLOURS = {16: "#d9730d", 32: "#2e7d32", 64: "#2a7ab0", 128: "#c0392b"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 60, 190, 40, 50
LOW, HIGH = 0.05, 10  # of the speed-up; the axis is logarithmic


def x(sparsity):
    return LEFT + (WIDTH - LEFT - RIGHT) * (sparsity - 0.5) / 0.45


def y(times):
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - math.log(times / LOW) / math.log(HIGH / LOW))


def line(points, colour, dashes=""):
    text = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points)
    return f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>{dots}'


def main():
    results = json.load(open(sys.argv[1]))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="22" font-weight="bold">Forward pass over cuBLAS, 4096 x 4096, 8192 samples, bf16, one H200</text>']
    for times in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(times):.1f}" y2="{y(times):.1f}" '
                   f'stroke="{"#8c8c8c" if times == 1 else "#e4e4e4"}"/>'
                   f'<text x="{LEFT - 8}" y="{y(times) + 4:.1f}" text-anchor="end">{times:g}x</text>')
    for sparsity in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        out.append(f'<text x="{x(sparsity):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{100 * sparsity:.0f} %</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">blocks that are gone</text>')
    for place, entry in enumerate(results):
        colour = COLOURS[entry["block"]]
        for what, dashes in (("forward", ""), ("PyTorch BSR", ' stroke-dasharray="5 4"')):
            rows = sorted((r for r in entry["rows"] if r["what"] == what), key=lambda r: r["sparsity"])
            out.append(line([(x(r["sparsity"]), y(r["dense_ms"] / r["ms"])) for r in rows], colour, dashes))
        out.append(f'<text x="{WIDTH - RIGHT + 16}" y="{TOP + 20 + 20 * place}" fill="{colour}">blocks of {entry["block"]}</text>')
    out.append(f'<text x="{WIDTH - RIGHT + 16}" y="{TOP + 120}" fill="#555">dashed: PyTorch BSR</text>')
    print("\n".join(out + ["</svg>"]))


main()
