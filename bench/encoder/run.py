#!/usr/bin/env python3
"""Accuracy of the transformer example: hewn::Optimiser, torch::optim::AdamW, logits left untrained, dense.

usage: bench/encoder/run.py FOLDER [--seeds 3] [--steps 1000]; FOLDER holds the built examples
"""
import argparse
import json
import os
import re
import statistics
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--steps", type=int, default=1000)
args = parser.parse_args()

WAYS = {
    "hewn::Optimiser": ["transformer", "SEED", "STEPS"],
    "torch::optim::AdamW": ["torch_optim", "SEED", "STEPS"],
    "logits untrained": ["transformer", "SEED", "STEPS", "sa++r", "0"],
    "dense": ["transformer", "SEED", "STEPS", "dense"],
}
results = {}
for name, words in WAYS.items():
    values = []
    for seed in range(args.seeds):
        command = [word.replace("SEED", str(seed)).replace("STEPS", str(args.steps)) for word in words]
        command[0] = os.path.abspath(os.path.join(args.folder, command[0]))
        out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=args.folder,
                             env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
        values.append(float(re.search(r"accuracy ([0-9.]+)", out).group(1)))
    results[name] = values
    print(f"{name:22} {statistics.mean(values):6.2f}   " + " ".join(f"{value:6.2f}" for value in values), flush=True)
print(json.dumps({"steps": args.steps, "accuracy": results}))
