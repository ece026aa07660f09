#!/usr/bin/env python3
"""What the runs of a sweep cost and how good they are: bytes, multiply-adds and milliseconds against the metric.

  bench/tradeoff/run.py sweeps/NAME --batch 64 --out bench/results/DATE/tradeoff

prints a row per finished run, and writes OUT.json and OUT.svg (three curves, means over seeds). Milliseconds are those of the
exported network on this machine, one thread, CPU time; runs that keep the same blocks of the same network are timed once.
Needs the hewn program and Python's own library.
"""
import argparse, hashlib, html, json, math, os, pathlib, statistics, struct, subprocess, sys, tempfile

COSTS = {"bytes": "bytes of all weights", "products": "multiply-adds of one sample", "ms": "milliseconds of a batch"}
COLOURS = ["#c0392b", "#2a7ab0", "#5b8c3a", "#b58a2e", "#7d4fa0", "#8c8c8c", "#1f9e89", "#d9668b"]
PLOT, HEIGHT, TOP, BOTTOM, LEFT, GAP = 300, 230, 60, 50, 70, 70  # of one of the three pictures


def call(words, seconds=None):
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def support_key(folder, options):
    """Equal for runs whose exported networks take the same time: the same shapes with the same kept blocks."""
    with open(folder / "model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    metadata = header.pop("__metadata__", {})
    shapes = sorted((name, tensor["shape"]) for name, tensor in header.items())
    network = [options.get(key) for key in ("model", "data", "stem", "image-size")]
    return hashlib.sha256(json.dumps([network, shapes, metadata.get("hewn.blocks", "")]).encode()).hexdigest()


def measure(hewn, folder, batch, rounds):
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "x.hewn")
        call([hewn, "export", folder, "--to", file, "--json"])
        return call([hewn, "bench", "file", file, "--batch", str(batch), "--threads", "1", "--rounds", str(rounds), "--json"])


def label(at):
    """What sets a curve apart: the method, and every other axis but those along which a curve runs."""
    along = ("seed", "sparsity", "budget", "method")
    return " ".join([at.get("method") or "runs"] + [f"{key} {value}" for key, value in at.items() if value and key not in along])


def budget_kind(budget):
    return (budget or "uniform").split("=")[0]


def row_of(run, metric, folder):
    summary, options = run["summary"], json.loads((folder / "config.json").read_text())["options"]
    at = run["at"]
    dense = summary["kept_blocks"] == summary["blocks"]
    budget = "" if dense else options.get("budget") or "uniform"
    name = label(at) if dense or budget_kind(budget) == "uniform" else f"{label(at)}, {budget_kind(budget)}"
    return {"run": run["name"], "method": at.get("method") or summary["method"], "curve": name, "dense": dense, "budget": budget,
            "seed": summary["seed"], "requested": summary["sparsity"], "sparsity": summary["realised_sparsity"],
            metric: summary["metrics"].get(metric), "bytes": summary["bytes_sparse"], "products": summary.get("products_sparse"),
            "expected_ms": summary.get("expected_ms_sparse"), "ms": None}


def points_of(rows, metric):
    """Runs that differ in the seed alone become one point of a curve."""
    groups = {}
    for row in rows:
        groups.setdefault((row["curve"], row["budget"], row["requested"]), []).append(row)
    points = []
    for (curve, budget, requested), group in groups.items():
        mean = lambda key: statistics.mean(r[key] for r in group) if all(r[key] is not None for r in group) else None
        points.append({"curve": curve, "budget": budget, "requested": requested, "dense": group[0]["dense"], "runs": len(group),
                       **{key: mean(key) for key in (metric, "sparsity", "expected_ms", *COSTS)}})
    return points


def ticks(low, high):
    """Powers of ten and what lies between them, three at least where the axis is short."""
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        out = [s * 10.0 ** e for e in range(-9, 15) for s in steps if low <= s * 10.0 ** e <= high]
        if len(out) >= 3:
            return out
    return out or [low]


def short(value):
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def picture(number, cost, points, metric, colours):
    """One of the three: the metric over a cost, on a logarithmic axis."""
    known = [p for p in points if p[cost] and p[metric] is not None]
    left = LEFT + number * (PLOT + GAP)
    out = [f'<text x="{left}" y="{TOP - 12}">{metric} against {COSTS[cost]}</text>']
    if not known:
        return out + [f'<text x="{left}" y="{TOP + 20}" fill="#888">not known of these runs</text>']
    low, high = min(p[cost] for p in known) / 1.15, max(p[cost] for p in known) * 1.15
    bottom, top = min(p[metric] for p in known), max(p[metric] for p in known)
    pad = 0.08 * (top - bottom) or 1
    bottom, top = bottom - pad, top + pad
    x = lambda v: left + PLOT * math.log(v / low) / math.log(high / low)
    y = lambda v: TOP + HEIGHT * (top - v) / (top - bottom)
    for i in range(5):
        value = bottom + (top - bottom) * i / 4
        out.append(f'<line x1="{left}" x2="{left + PLOT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#e4e4e4"/>'
                   f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    for value in ticks(low, high):
        out.append(f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP}" y2="{TOP + HEIGHT}" stroke="#f0f0f0"/>'
                   f'<text x="{x(value):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{short(value)}</text>')
    for name, colour in colours.items():
        own = sorted((p for p in known if p["curve"] == name), key=lambda p: p[cost])
        path = " ".join(f"{x(p[cost]):.1f},{y(p[metric]):.1f}" for p in own)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(p[cost]):.1f}" cy="{y(p[metric]):.1f}" r="3.5" fill="{colour}"><title>'
                f'{html.escape(name)} {html.escape(p["budget"])} {p[metric]:.4g} at {short(p[cost])}</title></circle>' for p in own]
    return out


def draw(points, metric, title):
    names = list(dict.fromkeys(p["curve"] for p in points))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    width, height = LEFT + 3 * PLOT + 2 * GAP + 30, TOP + HEIGHT + BOTTOM + 18 * len(names)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="{LEFT}" y="22" font-weight="bold">{html.escape(title)}</text>']
    for number, cost in enumerate(COSTS):
        out += picture(number, cost, points, metric, colours)
    for i, (name, colour) in enumerate(colours.items()):
        y = TOP + HEIGHT + BOTTOM + 18 * i
        out.append(f'<circle cx="{LEFT + 4}" cy="{y - 4}" r="4" fill="{colour}"/><text x="{LEFT + 16}" y="{y}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=pathlib.Path, help="folder of a sweep")
    parser.add_argument("--hewn", default="build/release/hewn")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=pathlib.Path, help="OUT.json and OUT.svg are written; default: tradeoff in the sweep's folder")
    args = parser.parse_args()
    out = args.out or args.sweep / "tradeoff"
    results = json.loads((args.sweep / "results.json").read_text())
    metric = results["metric"]
    rows, timed, machine = [], {}, {}
    print(f"{'run':44s} {'budget':>12s} {'sparsity':>8s} {metric:>9s} {'bytes':>9s} {'products':>9s} {'ms':>9s}")
    for run in (r for r in results["runs"] if r["state"] == "finished"):
        folder = args.sweep / "runs" / run["name"]
        row = row_of(run, metric, folder)
        key = support_key(folder, run["options"])
        if key not in timed:
            timed[key] = measure(args.hewn, folder, args.batch, args.rounds)
        row["ms"], row["support"] = timed[key]["sparse_ms"], key[:12]
        machine = {k: timed[key][k] for k in ("batch", "threads", "clock", "instructions")}
        rows.append(row)
        value, products = row[metric], row["products"]
        print(f"{row['run']:44s} {row['budget'] or '-':>12s} {100 * row['sparsity']:6.1f} % {'-' if value is None else f'{value:.4g}':>9s} "
              f"{short(row['bytes']):>9s} {'-' if products is None else short(products):>9s} {row['ms']:9.4f}", flush=True)
    if not rows:
        raise SystemExit(f"{args.sweep}: no run is finished")
    points = points_of(rows, metric)
    title = f"{args.sweep.name}: {metric} against cost; {machine['clock']}, {machine['threads']} thread, batch {machine['batch']}"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_name(out.name + ".json").write_text(json.dumps({"sweep": str(args.sweep), "metric": metric, **machine,
                                                             "networks_timed": len(timed), "runs": rows, "points": points}, indent=1) + "\n")
    out.with_name(out.name + ".svg").write_text(draw(points, metric, title))
    print(f"\n{len(timed)} different networks timed; {out}.json and {out}.svg written", file=sys.stderr)


if __name__ == "__main__":
    main()
