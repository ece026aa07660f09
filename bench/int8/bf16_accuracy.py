#!/usr/bin/python3
"""What accuracy becomes in bf16: test images right in 32 bits and in bf16, and the sizes of both files.

usage: bf16_accuracy.py FOLDER [--build build/release] [--fashion PATH] [--cifar cifar-10-batches-bin]

FOLDER is that of accuracy.py, whose runs are used, or trained where they are not there. Networks go through ONNX: `hewn export --to
model.onnx`, then `hewn import --dtype bf16`.
"""
import argparse
import gzip
import json
import os
import subprocess

import numpy as np
import onnx

RUNS = {"mlp": ["--method", "dense", "--epochs", "3"], "mlp, 90 %": ["--sparsity", "0.9", "--epochs", "4"]}


class Bench:
    def __init__(self, arguments):
        self.folder, self.build, self.fashion = arguments.folder, arguments.build, arguments.fashion
        os.makedirs(self.folder, exist_ok=True)

    def place(self, name):
        return os.path.join(self.folder, name)

    def hewn(self, *words):
        subprocess.run([os.path.join(self.build, "hewn"), *words], check=True, capture_output=True, text=True)

    def compare(self, name, network, inputs, labels):
        right, sizes = [], []
        for dtype in ("f32", "bf16"):
            file = self.place(f"compared.{dtype}.hewn")
            self.hewn("import", network, "--to", file, "--dtype", dtype)
            self.hewn("predict", file, inputs, "--out", self.place("scores.npy"))
            right.append(100 * float((np.load(self.place("scores.npy")).argmax(1) == labels).mean()))
            sizes.append(os.path.getsize(file))
        print(f"| {name} | {right[0]:.2f} | {right[1]:.2f} | {right[1] - right[0]:+.2f} | {sizes[0] / 1024:.0f} KiB | "
              f"{sizes[1] / 1024:.0f} KiB ({100 * sizes[1] / sizes[0]:.0f} %) |", flush=True)

    def trained(self, name, options):
        stem = self.place("run-" + name.replace(" ", "_").replace(",", "").replace("%", ""))
        if not os.path.exists(os.path.join(stem, "summary.json")):
            self.hewn("train", "--data", "fashion-mnist:" + self.fashion, "--quiet", "--out", stem, *options)
        self.hewn("export", stem, "--to", stem + ".onnx")
        self.compare(name + ", Fashion-MNIST", stem + ".onnx", *self.fashion_inputs(stem + ".onnx"))

    def fashion_inputs(self, network):
        """The test set as the network takes it: its file says how."""
        props = {prop.key: prop.value for prop in onnx.load(network).metadata_props}
        rule = json.loads(props["hewn.preprocessing"])
        read = lambda name: gzip.open(os.path.join(self.fashion, name)).read()
        images = np.frombuffer(read("t10k-images-idx3-ubyte.gz"), np.uint8, offset=16).reshape(-1, 1, 28, 28)
        labels = np.frombuffer(read("t10k-labels-idx1-ubyte.gz"), np.uint8, offset=8)
        scaled = (images.astype(np.float32) / 255 - np.float32(rule["mean"][0])) / np.float32(rule["std"][0])
        np.save(self.place("fashion.npy"), scaled)
        return self.place("fashion.npy"), labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--fashion", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--cifar")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    print("| network | 32 bits, % | bf16, % | | file, 32 bits | bf16 |\n|---|---|---|---|---|---|")
    for name, options in RUNS.items():
        bench.trained(name, options)
    if arguments.cifar:
        if not os.path.exists(bench.place("test.npy")):
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../onnx/resnet20.py")
            subprocess.run(["/usr/bin/python3", script, bench.folder, "--data", arguments.cifar], check=True)
        bench.compare("resnet20, published, CIFAR-10", bench.place("resnet20.onnx"), bench.place("test.npy"),
                      np.load(bench.place("labels.npy")))


main()
