#!/usr/bin/python3
"""Trains every built-in network for a few steps, exports it to ONNX, and compares what comes out.

usage: builtin.py HEWN MODULES [NAME...]     e.g. builtin.py build/release/hewn build/release/onnx/node_modules

ONNX's checker must take the file. Its outputs in ONNX Runtime are compared with those of hewn's runtime, as a share of the largest;
of networks for images also what `hewn eval` says of the trained model with what ONNX Runtime's outputs for the same files give.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from PIL import Image

HEWN, MODULES = (os.path.abspath(path) for path in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
PRUNE = ["--block", "4", "--sparsity", "0.5", "--threads", "1"]
# Options of a training that is over soon, beside the data.
SMALL = {"resnet50": ["--batch", "4", "--steps", "16"], "vit-s/16": ["--batch", "8", "--steps", "16"]}
# The size that they are made for: where it differs, other layers are there.
LARGE = ("resnet18", "resnet50", "vit-s/16")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def images(folder, size):
    """Sixteen images of two classes."""
    random = np.random.RandomState(size)
    for part in ("train", "val"):
        for label in range(2):
            os.makedirs(f"{folder}/{part}/class{label}")
            for i in range(8):
                pixels = random.randint(0, 200, (size, size, 3)) + 50 * label
                Image.fromarray(pixels.astype(np.uint8)).save(f"{folder}/{part}/class{label}/{i}.png")


def task(name, takes):
    """Options of training, and a folder of images if it takes them."""
    if takes == "clicks":
        return ["--data", "synthetic-ctr", "--batch", "32", "--steps", "10"], None
    if takes == "text":
        return ["--data", "text", "--batch", "8", "--steps", "6"], None
    size = 224 if name in LARGE else 32
    folder = f"images{size}"
    if not os.path.isdir(folder):
        images(folder, size)
    options = ["--data", f"imagefolder:{folder}", "--image-size", size, "--eval-resize", size]
    return [*options, *SMALL.get(name, ["--batch", "8", "--steps", "6"])], f"{folder}/val"


def pixels_of(folder, model):
    """Images as the network was trained on them, and their classes."""
    rule = about(model)["hewn.preprocessing"]
    mean, std = (np.array(rule[key], np.float32).reshape(3, 1, 1) for key in ("mean", "std"))
    files = [(f"{folder}/class{label}/{i}.png", label) for label in range(2) for i in range(8)]
    x = [(np.asarray(Image.open(file), np.float32).transpose(2, 0, 1) / 255 - mean) / std for file, _ in files]
    return np.stack(x).astype(np.float32), np.array([label for _, label in files])


def loss_of(logits, labels):
    top = logits.max(1, keepdims=True)
    return float((np.log(np.exp(logits - top).sum(1)) + top[:, 0] - logits[np.arange(len(labels)), labels]).mean())


def about(model):
    return {entry.key: json.loads(entry.value) for entry in model.metadata_props}


def inputs_of(model):
    """Whole numbers that the network takes, by what the file says."""
    random = np.random.RandomState(2)
    dims = model.graph.input[0].type.tensor_type.shape.dim
    sizes = about(model).get("hewn.vocabularies")
    if sizes:
        return np.stack([random.randint(0, size, 5) for size in sizes], 1).astype(np.int64)
    symbols = model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value
    return random.randint(0, symbols, (5, dims[1].dim_value or 20)).astype(np.int64)


def difference(a, b):
    if a.size != b.size:
        return float("inf")
    return float(np.abs(a.ravel() - b.ravel()).max() / np.abs(b).max())


def compare(name, takes):
    folder = name.replace("/", "-")
    options, files = task(name, takes)
    run(HEWN, "train", "--model", name, *options, *PRUNE, "--out", folder)
    file = f"{folder}.onnx"
    run(HEWN, "export", folder, "--to", file)
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    x, labels = pixels_of(files, model) if files else (inputs_of(model), None)
    np.save("x.npy", x)
    run(HEWN, "predict", file, "x.npy", "--out", "own.npy")
    run("node", f"{HERE}/ort.mjs", MODULES, file, "x.npy", "ort.npy")
    own, ort = np.load("own.npy"), np.load("ort.npy")
    text = f"{name:18} checker passed, {len(model.graph.node):4} nodes: ONNX Runtime and hewn differ by {difference(own, ort):.1e}"
    if files:
        metrics = json.loads(run(HEWN, "eval", folder, "--json"))["metrics"]
        right = 100 * float((ort.argmax(1) == labels).mean())
        text += f"; loss {loss_of(ort, labels):.6f}, hewn eval {metrics['loss']:.6f}; right {right:.2f} % and {metrics['accuracy']:.2f} %"
    print(text, flush=True)


def main():
    models = json.loads(run(HEWN, "methods", "--json"))["models"]
    takes = {"ctr-dnn": "clicks", "char-transformer": "text"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for model in models:
            if not sys.argv[3:] or model["name"] in sys.argv[3:]:
                compare(model["name"], takes.get(model["name"], "values"))


main()
