#!/usr/bin/env python3
"""Times whole trainings in turn: the dense model, a method on kept blocks, and the same method run dense.

  bench/training/run.py --rounds 3 --out bench/results/DATE/training.json
  bench/training/run.py --rounds 1 --out /tmp/t.json -- --epochs 2      # what follows -- goes to hewn train

Needs only Python's own library.
"""
import argparse, json, pathlib, shutil, statistics, subprocess, tempfile

WAYS = {"dense": ["--method", "dense"], "kept blocks": [], "run dense": ["--sparse-execution", "off"]}


def train(hewn, folder, options):
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([hewn, "train", "--json", "--quiet", "--out", folder, *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(options)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hewn", default="build/release/hewn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("more", nargs="*")
    args = parser.parse_args()
    runs = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.rounds):
            for way, options in WAYS.items():
                summary = train(args.hewn, f"{folder}/run", ["--seed", str(seed), *options, *args.more])
                runs[way].append({"seed": seed, "seconds": summary["seconds"], "accuracy": summary["metrics"]["accuracy"],
                                  "sparse_execution": summary.get("sparse_execution", "off")})
                print(f"seed {seed}  {way:12s} {summary['seconds']:7.2f} s  {summary['metrics']['accuracy']:.2f} %", flush=True)
    ratios = {way: [run["seconds"] / dense["seconds"] for run, dense in zip(runs[way], runs["dense"])] for way in WAYS}
    for way, values in ratios.items():
        print(f"{way:12s} {statistics.median(values):.3f} of the dense time, "
              f"{statistics.mean(run['accuracy'] for run in runs[way]):.2f} %")
    result = {"options": args.more, "runs": runs, "median_ratio": {way: statistics.median(v) for way, v in ratios.items()}}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
