#!/usr/bin/python3
"""Writes the published CIFAR-10 ResNet-20 as an ONNX file, and images to try it with as .npy files.

usage: resnet20.py FOLDER --data CIFAR [--weights FILE.safetensors] [--calibration 512]

CIFAR is the folder cifar-10-batches-bin. FOLDER gets resnet20.onnx (batch normalisation is a node of its own),
calibration.npy (training images, drawn with a fixed seed), test.npy and labels.npy.
"""
import argparse
import json
import os
import struct
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../../shared/data/weights/resnet20-12fca82f.safetensors")
MEAN = np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1)
STD = np.array([0.229, 0.224, 0.225], np.float32).reshape(3, 1, 1)


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.padding, self.stride = (out - channels) // 2, stride

    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.stride != 1:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.padding, self.padding))
        return F.relu(out + x)


class ResNet20(nn.Module):
    """Shortcuts skip every second pixel and pad with zero channels (option A)."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*[Block(16, 16, 1) for _ in range(3)])
        self.layer2 = nn.Sequential(Block(16, 32, 2), *[Block(32, 32, 1) for _ in range(2)])
        self.layer3 = nn.Sequential(Block(32, 64, 2), *[Block(64, 64, 1) for _ in range(2)])
        self.linear = nn.Linear(64, 10)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean((2, 3)))


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    types = {"F32": np.float32, "I64": np.int64}
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(np.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]])
                                   .reshape(entry["shape"]).copy()) for name, entry in header.items()}


def read_images(path):
    records = np.fromfile(path, np.uint8).reshape(-1, 3073)
    return (records[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255 - MEAN) / STD, records[:, 0].astype(np.int64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--data", required=True)
    parser.add_argument("--weights", default=WEIGHTS)
    parser.add_argument("--calibration", type=int, default=512)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    warnings.simplefilter("ignore")
    model = ResNet20()
    known = model.state_dict()
    weights = read_safetensors(arguments.weights)
    missing = model.load_state_dict({name: weights[name] for name in known if name in weights}, strict=False)
    absent = [name for name in missing.missing_keys if not name.endswith("num_batches_tracked")]
    if absent:
        raise SystemExit(f"{arguments.weights}: has no {', '.join(absent)}")
    model.eval()
    place = lambda name: os.path.join(arguments.folder, name)
    # In evaluation the exporter would put batch normalisation into the convolutions.
    torch.onnx.export(model, torch.randn(2, 3, 32, 32), place("resnet20.onnx"), opset_version=14, input_names=["x"],
                      output_names=["y"], training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    images, _ = read_images(os.path.join(arguments.data, "data_batch_1.bin"))
    chosen = np.sort(np.random.default_rng(0).permutation(len(images))[: arguments.calibration])
    np.save(place("calibration.npy"), images[chosen])
    images, labels = read_images(os.path.join(arguments.data, "test_batch.bin"))
    np.save(place("test.npy"), images)
    np.save(place("labels.npy"), labels)
    print(place("resnet20.onnx"))


main()
