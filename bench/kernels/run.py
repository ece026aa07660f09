#!/usr/bin/env python3
"""Times the block-sparse kernels and whole networks over the grid through `hewn bench`, and renders tables and figure.

  bench/kernels/run.py                 # all: results, tables in docs/benchmarks.md, docs/figures/density.svg
  bench/kernels/run.py --tables conv   # some tables again, beside the newest of the others
  bench/kernels/run.py --render-only   # from the newest of each table

Takes about a quarter of an hour. Nothing else should run on the machine. Needs only Python's own library.
"""
import argparse, datetime, json, pathlib, platform, subprocess, sys
import plot_density, render

ROOT = pathlib.Path(__file__).resolve().parents[2]
DENSITIES = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100]

# The convolutions of ResNet-50 that narrow, and its 3x3 ones: channels in, out, size, kernel, padding.
RESNET50 = [["--in", str(4 * n), "--out", str(n), "--size", str(3584 // n), "--kernel", "1", "--padding", "0"]
            for n in (64, 128, 256, 512)]
RESNET50 += [["--in", str(n), "--out", str(n), "--size", str(3584 // n)] for n in (64, 128, 256, 512)]

# Table -> calls of `hewn bench`.
GRID = {
    "linear": [["linear", "--block", "4,8,16,32,64", "--sparsity", "0.5,0.8,0.9,0.95"]],
    "break-even": [["linear", "--block", "4,8,16,32,64", "--sparsity", "0.9", "--break-even"]],
    "ctr": [["linear", "--in", "390", "--out", "400", "--block", "5,10,20", "--sparsity", "0.9"]],
    "batch-1": [["linear", "--batch", "1", "--block", "8,16,32,64", "--sparsity", "0.8,0.9"]],
    "gradients": [["linear", "--block", "8,16,32,64", "--sparsity", "0.8", "--gradients"]],
    "conv": [["conv", "--block", "8,16,32", "--sparsity", "0.8,0.9,0.95"],
             ["conv", "--in", "256", "--out", "64", "--size", "56", "--kernel", "1", "--padding", "0",
              "--block", "8,16,32", "--sparsity", "0.9"]],
    "resnet50": [["conv", *layer, "--batch", "1,8,24", "--block", "8,16,32", "--sparsity", "0.8,0.9"]
                 for layer in RESNET50],
    "conv-gradients": [["conv", "--block", "8,16,32", "--sparsity", "0.8", "--gradients"]],
    "threads": [["linear", "--threads", "2", "--block", "8,16,32", "--sparsity", "0.9"]],
    "density": [["linear", "--sparsity", ",".join(f"{1 - d / 100:.2f}" for d in DENSITIES)]],
    "models": [["model", "--model", "mlp", "--batch", "1,256", "--threads", "1,2"],
               ["model", "--model", "resnet18", "--width", "64", "--data", "cifar10", "--batch", "256", "--threads", "1,2"]],
}


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def gather(out):
    """Of every table the newest measurement; a day's file holds what was measured on it."""
    results = {"origins": {}, "tables": {}}
    for path in sorted(out.glob("*/kernels.json")):
        day = json.load(open(path))
        for part in results:
            results[part].update(day[part])
    return results


def text_of(results):
    """A line for each point."""
    tables = [f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, points)) + "\n]"
              for name, points in results["tables"].items()]
    return f'{{"origins": {json.dumps(results["origins"])},\n"tables": {{\n' + ",\n".join(tables) + "\n}}\n"


def measure(program, rounds, names, date):
    results = {"origins": {}, "tables": {}}
    for table in names:
        points = []
        for call in GRID[table]:
            print(f"{table}: hewn bench {' '.join(call)}", file=sys.stderr)
            text = subprocess.run([program, "bench", *call, "--rounds", str(rounds), "--json"], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            if '"withheld"' in text or '"break_even_withheld"' in text:
                sys.exit(f"{table}: hewn bench withholds a speed-up; something else runs on the machine")
            read = json.loads(text)
            points += read if isinstance(read, list) else [read]
        results["tables"][table] = points
        results["origins"][table] = {"cpu": cpu_name(), "instructions": points[0]["instructions"], "date": date,
                                     "rounds": rounds}
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/hewn")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--tables", default=",".join(GRID), help="which to measure, with commas between")
    parser.add_argument("--render-only", action="store_true")
    options = parser.parse_args()
    if not options.render_only:
        names = options.tables.split(",")
        unknown = [name for name in names if name not in GRID]
        if unknown:
            parser.error(f"unknown table {unknown[0]}; known: {', '.join(GRID)}")
        date = str(datetime.date.today())
        file = options.out / date / "kernels.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        measured = measure(options.program, options.rounds, names, date)
        if file.exists():
            earlier = json.load(open(file))
            measured = {part: {**earlier[part], **measured[part]} for part in measured}
        file.write_text(text_of(measured))
    results = gather(options.out)
    render.into(ROOT / "docs/benchmarks.md", results)
    (ROOT / "docs/figures/density.svg").write_text(plot_density.svg(results["tables"]["density"], results["origins"]["density"]))


if __name__ == "__main__":
    main()
