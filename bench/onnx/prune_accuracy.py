#!/usr/bin/python3
"""Test accuracy of the published CIFAR-10 ResNet-20 after `hewn prune`, without training.

usage: prune_accuracy.py FOLDER [--build build/release] [--block 4] [--sparsities 0.3,0.5] [OPTIONS OF hewn prune]

FOLDER is what bench/onnx/resnet20.py wrote. Prints a table, and JSON behind it.
"""
import argparse
import json
import os
import subprocess
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", default="resnet20.onnx")
    parser.add_argument("--block", default="4")
    parser.add_argument("--sparsities", default="0.3,0.5")
    parser.add_argument("--methods", default="magnitude,refit,omp")
    arguments, more = parser.parse_known_args()
    place = lambda name: os.path.join(arguments.folder, name)

    def accuracy(model):
        command = [os.path.join(arguments.build, "bench/onnx_accuracy"), model, place("test.npy"), place("labels.npy")]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    rows = [{"method": "dense", "sparsity": 0.0, "accuracy": accuracy(place(arguments.model))}]
    print(f"{'method':10} {'sparsity':>8} {'accuracy':>8} {'output error':>12} {'CPU s':>6}", flush=True)
    print(f"{'dense':10} {'':>8} {rows[0]['accuracy']:8.2f}", flush=True)
    for sparsity in arguments.sparsities.split(","):
        for method in arguments.methods.split(","):
            pruned = place(f"pruned-{method}-{sparsity}.onnx")
            begin = os.times()
            result = subprocess.run([os.path.join(arguments.build, "hewn"), "prune", place(arguments.model), "--block", arguments.block,
                                     "--sparsity", sparsity, "--method", method, "--calibration", place("calibration.npy"),
                                     "--to", pruned, "--json", *more], check=True, capture_output=True, text=True)
            seconds = os.times().children_user - begin.children_user
            error = list(json.loads(result.stdout)["output_errors"].values())[0]
            rows.append({"method": method, "sparsity": float(sparsity), "accuracy": accuracy(pruned), "output_error": error,
                         "cpu_seconds": round(seconds, 1)})
            print(f"{method:10} {sparsity:>8} {rows[-1]['accuracy']:8.2f} {error:12.3f} {seconds:6.1f}", flush=True)
    print(json.dumps({"date": time.strftime("%Y-%m-%d"), "block": arguments.block, "rows": rows}))


main()
