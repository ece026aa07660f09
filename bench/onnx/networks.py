#!/usr/bin/python3
"""Writes networks with random weights as ONNX files: torchvision's by name, segmenters too, and a transformer encoder.

usage: networks.py FOLDER [NAME...] [--prune BLOCK SPARSITY]

With --prune, that share of the blocks of every convolution and matrix with at least 100 blocks is set to zero.
Batch normalisation gets random statistics, so that nothing is an identity.
"""
import argparse
import os
import warnings
import zlib

import torch
import torchvision
from torch import nn

NAMES = ["resnet18", "resnet34", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "squeezenet1_1",
         "shufflenet_v2_x1_0", "vgg11", "vit_b_16", "encoder"]


class Encoder(nn.Module):
    """64 tokens of 256 numbers, four layers, and a classifier."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.encoder(x).mean(1))


class Segmenter(nn.Module):
    """One of torchvision's, which give a dictionary: its classes of every pixel."""

    def __init__(self, name):
        super().__init__()
        self.model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)

    def forward(self, x):
        return self.model(x)["out"]


def model_of(name):
    if name == "encoder":
        return Encoder()
    if hasattr(torchvision.models, name):
        return getattr(torchvision.models, name)(weights=None)
    return Segmenter(name)


def randomise(model):
    if hasattr(model, "heads"):
        nn.init.normal_(model.heads.head.weight, std=0.02)  # torchvision begins with zeros: nothing to compare
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.6, 1.4)
            module.weight.data.uniform_(0.6, 1.2)
            module.bias.data.uniform_(-0.2, 0.2)


def prune(model, block, sparsity):
    """Zeroes random blocks of the weights seen as (taps * inputs) x outputs, as hewn does."""
    for module in model.modules():
        packed = getattr(module, "in_proj_weight", None)
        weights = [packed] if packed is not None else []
        if isinstance(module, (nn.Linear, nn.Conv2d)) and getattr(module, "groups", 1) == 1:
            weights.append(module.weight)
        for weight in weights:
            data = weight.data
            taps = data[0, 0].numel() if data.dim() == 4 else 1
            matrix = data.reshape(data.shape[0], data.shape[1], taps).permute(2, 1, 0).reshape(taps * data.shape[1], -1)
            rows, cols = -(-matrix.shape[0] // block), -(-matrix.shape[1] // block)
            if rows * cols < 100:
                continue
            keep = torch.ones(rows * cols)
            keep[torch.randperm(rows * cols)[: round(sparsity * rows * cols)]] = 0
            mask = keep.reshape(rows, cols).repeat_interleave(block, 0).repeat_interleave(block, 1)
            matrix = matrix * mask[: matrix.shape[0], : matrix.shape[1]] / (1 - sparsity) ** 0.5
            data.copy_(matrix.reshape(taps, data.shape[1], data.shape[0]).permute(2, 1, 0).reshape(data.shape))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--prune", nargs=2, metavar=("BLOCK", "SPARSITY"))
    parser.add_argument("names", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in arguments.names or NAMES:
        torch.manual_seed(zlib.crc32(name.encode()))
        model = model_of(name)
        randomise(model)
        if arguments.prune:
            prune(model, int(arguments.prune[0]), float(arguments.prune[1]))
        # The fused path of nn.TransformerEncoderLayer in evaluation has no ONNX form: training mode without dropout.
        encoder = name == "encoder"
        model.train(encoder)
        example = torch.randn(2, 64, 256) if encoder else torch.randn(2, 3, 224, 224)
        file = os.path.join(arguments.folder, name + ".onnx")
        mode = torch.onnx.TrainingMode.TRAINING if encoder else torch.onnx.TrainingMode.EVAL
        torch.onnx.export(model, example, file, opset_version=14, input_names=["x"], output_names=["y"], training=mode,
                          do_constant_folding=True, dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
        print(file, flush=True)


main()
