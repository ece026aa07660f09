#!/usr/bin/env python3
"""hewn select on real tables: k groups against all features on samples that are left out, one thread.

digits comes from python3-sklearn; the others are looked for in --data (default: ../shared/data/tabular beside the checkout)
and skipped, visibly, where they are absent. usage: real_data.py [--data FOLDER] [--json FILE] [NAME...]
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent.parent
PROGRAM = ROOT / "build/release/hewn"
DIGITS = pathlib.Path("/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz")
TABLES = {  # name -> file, options
    "digits": (DIGITS, ["--task", "multinomial", "--k", "20"]),
    "dna": ("dna.csv.gz", ["--group-size", "3", "--k", "8"]),
    "isolet": ("isolet.npz", ["--task", "multinomial", "--k", "50"]),
    "coil20": ("coil20.npz", ["--task", "multinomial", "--k", "20"]),
    "mice": ("mice_protein.csv", ["--target", "class", "--ignore", "MouseID,Genotype,Treatment,Behavior,label",
                                  "--impute", "mean", "--standardise", "--k", "15"]),
}
METHODS = ["omp", "ompr", "group-lasso"]
ENV = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def select(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(PROGRAM), "select", *map(str, words), "--json"], env=ENV, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"hewn select failed: {done.stderr.strip()}")
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data/tabular")
    parser.add_argument("--json", help="write results to this file")
    args = parser.parse_args()
    rows = []
    print(f"{'data':8} {'method':12} {'of':>10} {'loss':>8} {'accuracy':>8} {'all':>6} {'select':>7} {'cpu':>7}  first groups")
    for name, (file, options) in TABLES.items():
        if args.name and name not in args.name:
            continue
        path = args.data / file
        if not path.exists():
            print(f"{name:8} skipped: {path} is absent")
            continue
        for method in METHODS:
            plain, select_cpu = select([path, *options, "--method", method])
            held, cpu = select([path, *options, "--method", method, "--holdout", "0.3"])
            row = {"data": name, "method": method, "options": options, "samples": held["samples"], "features": held["features"],
                   "groups": held["groups"], "outputs": held["outputs"], "k": len(held["selected"]), "selected": held["selected"],
                   "names": held["names"], "loss": held["loss"], "accuracy": held["holdout"]["accuracy"],
                   "accuracy_all": held["holdout"]["accuracy_all"], "certificate": held["certificate"],
                   "select_seconds": plain["seconds"], "cpu_seconds": select_cpu, "cpu_seconds_with_holdout": cpu}
            rows.append(row)
            print(f"{name:8} {method:12} {row['k']:>4} of {row['groups']:<4} {row['loss']:8.4f} {100 * row['accuracy']:7.1f}% "
                  f"{100 * row['accuracy_all']:5.1f}% {row['select_seconds']:7.2f} {cpu:7.1f}  {row['selected'][:6]}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
