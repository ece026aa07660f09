#!/usr/bin/env python3
"""Turns table.json of run_table.py into Markdown: one row a variant, one column a cell (or the other way round).

  bench/tables/render.py bench/results/2026-11-15/fashion.json
"""
import json, re, sys


def main():
    by_cell, variants, alone = {}, [], []
    for row in json.load(open(sys.argv[1])):
        match = re.match(r"(B\d+ s[\d.]+(?: e\d+)?) (.+)", row["cell"])
        digits = 4 if row["mean"] < 2 else 2  # losses, percent
        text = f"{row['mean']:.{digits}f}" + f" n={len(row['runs'])}" * (len(row["runs"]) != 3) + (f" ± {row['sd']:.{digits}f}" if row["sd"] is not None else "")
        if not match:
            alone.append(f"{row['cell']}: {text}")
            continue
        cell, variant = match.groups()
        by_cell.setdefault(cell, {})[variant] = text
        if variant not in variants:
            variants.append(variant)
    print("; ".join(alone) + "\n")
    if len(variants) <= 6:
        print("| | " + " | ".join(variants) + " |\n|---" * 1 + "|---" * len(variants) + "|")
        for cell, values in by_cell.items():
            print(f"| {cell} | " + " | ".join(values.get(v, "-") for v in variants) + " |")
    else:
        print("| | " + " | ".join(by_cell) + " |\n|---" + "|---" * len(by_cell) + "|")
        for variant in variants:
            print(f"| {variant} | " + " | ".join(values.get(variant, "-") for values in by_cell.values()) + " |")


if __name__ == "__main__":
    main()
