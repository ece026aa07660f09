#!/usr/bin/python3
"""Writes the mlp 784-1024-1024-10 with random weights as ONNX, dense and with nine tenths of its 16x16 blocks zero.

usage: mlp.py FOLDER    writes FOLDER/dense/mlp.onnx and FOLDER/pruned/mlp.onnx
"""
import os
import sys
import warnings

import torch
from torch import nn


def write(file, sparsity):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    for layer in (model[0], model[2]):
        rows, cols = layer.weight.shape[0] // 16, layer.weight.shape[1] // 16
        mask = (torch.rand(rows, cols) >= sparsity).float()
        layer.weight.data *= mask.repeat_interleave(16, 0).repeat_interleave(16, 1)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    torch.onnx.export(model.eval(), torch.randn(2, 784), file, opset_version=14, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})


warnings.simplefilter("ignore")
write(os.path.join(sys.argv[1], "dense", "mlp.onnx"), 0.0)
write(os.path.join(sys.argv[1], "pruned", "mlp.onnx"), 0.9)
