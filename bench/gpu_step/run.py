"""Step times of ResNet-50 on a GPU: hewn's dense step beside PyTorch's, and what sa++ adds in each phase.
PyTorch's step is timed before and after hewn's, in processes of their own.

usage: python3 bench/gpu_step/run.py [--build build/cuda] [--out FILE.json] [BATCH...]
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def last_json(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, check=True)
    *lines, last = done.stdout.strip().splitlines()
    if lines:
        print("\n".join(lines), flush=True)
    return json.loads(last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/cuda")
    parser.add_argument("--out")
    parser.add_argument("--groups", default="12")
    parser.add_argument("batches", nargs="*", type=int)
    args = parser.parse_args()
    out = []
    for batch in args.batches or [64, 256, 1024]:
        python = [sys.executable, HERE / "resnet50.py", batch, args.groups]
        before = last_json(python)
        ours = last_json([pathlib.Path(args.build) / "bench" / "bench_gpu_step", batch, args.groups])
        after = last_json(python)
        theirs = (before["ms"] + after["ms"]) / 2
        print(f"  batch {batch:5} PyTorch {before['torch']}: {before['ms']:.3f} and {after['ms']:.3f} ms", flush=True)
        for mode in ours:
            dense = (mode["rows"][0]["ms"] + mode["rows"][-1]["ms"]) / 2
            name = "recorded" if mode["graphs"] else "launched"
            print(f"  batch {batch:5} hewn dense, {name}, over PyTorch: {dense / theirs:.3f}", flush=True)
        out.append({"batch": batch, "pytorch": [before, after], "hewn": ours})
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(out, indent=1) + "\n")


main()
