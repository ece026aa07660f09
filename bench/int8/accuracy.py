#!/usr/bin/python3
"""What accuracy becomes in 8 bits: test images right in 32 and in 8 bits, and the sizes of both files.

usage: accuracy.py FOLDER [--build build/release] [--fashion PATH] [--cifar cifar-10-batches-bin] [--only NAMES]

FOLDER keeps the runs, which are trained where they are not there yet (an mlp and a narrow resnet18 on Fashion-MNIST and, with
--cifar, that resnet18 on CIFAR-10, dense and pruned), and what bench/onnx/resnet20.py wrote for the published ResNet-20, which
needs --cifar. Of runs and weights `hewn export --dtype int8` makes the file, with training samples of their own; the ResNet-20 that `hewn prune` makes goes through `hewn import`.
"""
import argparse
import json
import os
import subprocess

import numpy as np

WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../../shared/data/weights/resnet20-12fca82f.safetensors")
RESNET18 = ["--model", "resnet18", "--width", "16", "--batch", "128", "--steps", "200", "--no-augment"]
RUNS = {  # name: options of hewn train
    "mlp": ["--method", "dense", "--epochs", "3"],
    "mlp, 90 %": ["--sparsity", "0.9", "--epochs", "4"],
    "resnet18 of width 16": RESNET18 + ["--method", "dense"],
    "resnet18 of width 16, 80 %": RESNET18 + ["--block", "8", "--sparsity", "0.8"],
}
CIFAR_RUNS = {
    "resnet18 of width 16 on colours": RESNET18[:-3] + ["--steps", "800", "--method", "dense"],
    "resnet18 of width 16 on colours, 80 %": RESNET18[:-3] + ["--steps", "800", "--block", "8", "--sparsity", "0.8"],
}


class Bench:
    def __init__(self, arguments):
        self.folder, self.build, self.cifar = arguments.folder, arguments.build, arguments.cifar
        self.fashion = "fashion-mnist" + (":" + arguments.fashion if arguments.fashion else "")
        os.makedirs(self.folder, exist_ok=True)

    def place(self, name):
        return os.path.join(self.folder, name)

    def hewn(self, *words):
        done = subprocess.run([os.path.join(self.build, "hewn"), *words], check=True, capture_output=True, text=True)
        return done.stdout

    def show(self, name, data, files, right):
        sizes = [os.path.getsize(file) for file in files]
        print(f"| {name}, {data} | {right[0]:.2f} | {right[1]:.2f} | {right[1] - right[0]:+.2f} | "
              f"{sizes[0] / 1024:.0f} KiB | {sizes[1] / 1024:.0f} KiB ({100 * sizes[1] / sizes[0]:.0f} %) |", flush=True)

    def exported(self, name, data, source, label):
        stem = self.place(name.replace(" ", "_").replace(",", "").replace("%", ""))
        files = [stem + ".hewn", stem + ".int8.hewn"]
        self.hewn("export", *source, "--to", files[0])
        self.hewn("export", *source, "--to", files[1], "--dtype", "int8")
        right = [json.loads(self.hewn("predict", file, "--data", data, "--json"))["metrics"]["accuracy"] for file in files]
        self.show(name, label, files, right)

    def trained(self, name, options, data, label):
        run = self.place("run-" + name.replace(" ", "_").replace(",", "").replace("%", ""))
        if not os.path.exists(os.path.join(run, "summary.json")):
            self.hewn("train", "--data", data, "--quiet", "--out", run, *options)
        self.exported(name, data, [run], label)

    def pruned_resnet20(self, sparsity):
        pruned = self.place(f"resnet20-{sparsity}.onnx")
        calibration = self.place("calibration.npy")
        if not os.path.exists(pruned):
            self.hewn("prune", self.place("resnet20.onnx"), "--block", "4", "--sparsity", sparsity, "--method", "refit",
                      "--calibration", calibration, "--to", pruned)
        labels, right = np.load(self.place("labels.npy")), []
        files = [self.place("pruned20.hewn"), self.place("pruned20.int8.hewn")]
        self.hewn("import", pruned, "--to", files[0])
        self.hewn("import", pruned, "--to", files[1], "--dtype", "int8", "--calibration", calibration)
        for file in files:
            self.hewn("predict", file, self.place("test.npy"), "--out", self.place("scores.npy"))
            right.append(100 * float((np.load(self.place("scores.npy")).argmax(1) == labels).mean()))
        self.show(f"resnet20, {100 * float(sparsity):.0f} % by `hewn prune`", "CIFAR-10", files, right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--fashion")
    parser.add_argument("--cifar")
    parser.add_argument("--only", help="names that begin so")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    wanted = lambda name: arguments.only is None or name.startswith(arguments.only)
    print("| network | 32 bits, % | 8 bits, % | | file, 32 bits | 8 bits |\n|---|---|---|---|---|---|")
    for name, options in RUNS.items():
        if wanted(name):
            bench.trained(name, options, bench.fashion, "Fashion-MNIST")
    data = f"cifar10:{arguments.cifar}"
    for name, options in CIFAR_RUNS.items():
        if arguments.cifar and wanted(name):
            bench.trained(name, options, data, "CIFAR-10")
    if arguments.cifar and wanted("resnet20"):
        if not os.path.exists(bench.place("test.npy")):
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../onnx/resnet20.py")
            subprocess.run(["/usr/bin/python3", script, bench.folder, "--data", arguments.cifar], check=True)
        bench.exported("resnet20, published", data, [WEIGHTS, "--model", "resnet20", "--data", data], "CIFAR-10")
        for sparsity in ("0.3", "0.5"):
            bench.pruned_resnet20(sparsity)


main()
