#!/usr/bin/env python3
"""Blocks of a trained mlp by reconstruction against magnitude, at equal sparsity and without fine-tuning.

Trains the dense Fashion-MNIST mlp (784-1024-1024-10, default settings) unless --run names a finished run, then prunes fc1 and
fc2 one after the other with hewn select --from-run. usage: layers.py [--run RUN] [--json FILE]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).parent.parent.parent / "build/release/hewn"
WAYS = [  # name, options
    ("magnitude", ["--method", "magnitude", "--no-refit", "--no-intercept"]),
    ("magnitude, refitted", ["--method", "magnitude"]),
    ("omp", ["--method", "omp"]),
    ("omp by gradient norm", ["--method", "omp", "--score", "norm"]),
    ("ompr", ["--method", "ompr"]),
]


def hewn(*words):
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"hewn {words[0]} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="finished dense run; default: train one")
    parser.add_argument("--block", default="16")
    parser.add_argument("--sparsity", type=float, nargs="*", default=[0.5, 0.8, 0.9, 0.95])
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--json", help="write results to this file")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = args.run
        if run is None:
            run = folder / "dense"
            hewn("train", "--method", "dense", "--quiet", "--json", "--out", run)
        print(f"{'sparsity':>8}  {'way':22} {'accuracy':>8} {'fc1 lost':>8} {'fc2 lost':>8} {'seconds':>8}")
        for sparsity in args.sparsity:
            for number, (name, options) in enumerate(WAYS):
                layers, at = [], run
                for layer in ("fc1", "fc2"):
                    to = folder / f"{sparsity}-{number}-{layer}"
                    found = hewn("select", "--from-run", at, "--layer", layer, "--sparsity", sparsity, "--block", args.block,
                                 "--samples", args.samples, "--threads", 1, "--out", to, "--json", *options)
                    at = to
                    layers.append({"layer": layer, "blocks": found["blocks"], "kept": found["kept"], "swaps": found["swaps"],
                                   "lost": found["losses"][-1] / found["null_loss"], "accuracy": found["after"]["accuracy"],
                                   "gather_seconds": found["gather_seconds"], "choose_seconds": found["choose_seconds"]})
                    dense = found["before"]["accuracy"] if layer == "fc1" else dense
                rows.append({"sparsity": sparsity, "block": args.block, "way": name, "samples": args.samples, "dense": dense,
                             "accuracy": layers[-1]["accuracy"], "layers": layers})
                print(f"{sparsity:8}  {name:22} {layers[-1]['accuracy']:8.2f} {100 * layers[0]['lost']:7.1f}% "
                      f"{100 * layers[1]['lost']:7.1f}% {sum(l['choose_seconds'] for l in layers):8.2f}", flush=True)
        print(f"dense: {dense:.2f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
