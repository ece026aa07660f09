#!/usr/bin/env python3
"""hewn train with --score reconstruction against the method's own score, on Fashion-MNIST and the default mlp, scaled down.

usage: score.py [--epochs N] [--seeds N] [--json FILE]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).parent.parent.parent / "build/release/hewn"


def train(folder, words):
    done = subprocess.run([str(PROGRAM), "train", "--quiet", "--json", "--no-compare-dense", "--out", str(folder), *map(str, words)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"hewn train failed: {done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sparsity", type=float, nargs="*", default=[0.9, 0.95])
    parser.add_argument("--method", nargs="*", default=["magnitude"])
    parser.add_argument("--json", help="write results to this file")
    args = parser.parse_args()
    rows = []
    print(f"{'method':10} {'sparsity':>8} {'seed':>4}  {'own':>7} {'reconstruction':>14}  seconds")
    with tempfile.TemporaryDirectory() as folder:
        for method in args.method:
            for sparsity in args.sparsity:
                for seed in range(args.seeds):
                    row = {"method": method, "sparsity": sparsity, "seed": seed, "epochs": args.epochs}
                    for score in ("own", "reconstruction"):
                        words = ["--method", method, "--sparsity", sparsity, "--seed", seed, "--epochs", args.epochs, "--threads",
                                 args.threads]
                        words += [] if score == "own" else ["--score", score]
                        found = train(pathlib.Path(folder) / f"{method}-{sparsity}-{seed}-{score}", words)
                        row[score] = found["metrics"]["accuracy"]
                        row[score + "_seconds"] = found["seconds"]
                    rows.append(row)
                    print(f"{method:10} {sparsity:8} {seed:4}  {row['own']:7.2f} {row['reconstruction']:14.2f}  "
                          f"{row['own_seconds']:.0f} {row['reconstruction_seconds']:.0f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
