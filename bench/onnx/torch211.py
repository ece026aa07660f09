#!/usr/bin/env python3
"""Writes small networks as PyTorch 2's exporter (dynamo) writes them, with inputs and what ONNX Runtime makes of them.

usage: torch211.py FOLDER [NAME...]     (PyTorch 2.11 with onnx, onnxscript and onnxruntime; transformers for bert)

For each network FOLDER gets NAME.onnx (opset 18, random weights, below 12 MB, dynamic batch where the exporter can) and
NAME.npz with its inputs as "in.NAME" and ONNX Runtime's outputs as "out.NAME", one pair for batch 2. What could not be
written is said at the end with its reason; the others are there nonetheless.
"""
import argparse
import os
import traceback

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """torchvision's resnet18 with `width` channels in its first stage (64 there)."""

    def __init__(self, width=16, classes=100):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        layers, channels = [], width
        for stage in range(4):
            out = width << stage
            layers += [BasicBlock(channels, out, 1 if stage == 0 else 2), BasicBlock(out, out, 1)]
            channels = out
        self.layers = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        return x * nn.functional.hardsigmoid(self.fc2(nn.functional.relu(self.fc1(self.pool(x)))))


class Inverted(nn.Module):
    def __init__(self, channels, wide, out, kernel, stride, excite, act):
        super().__init__()
        parts = []
        if wide != channels:
            parts += [nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), act()]
        parts += [nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False), nn.BatchNorm2d(wide), act()]
        if excite:
            parts.append(SqueezeExcite(wide, max(8, wide // 4 // 8 * 8)))
        parts += [nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out)]
        self.parts = nn.Sequential(*parts)
        self.add = stride == 1 and channels == out

    def forward(self, x):
        return x + self.parts(x) if self.add else self.parts(x)


class MobileNetV3Small(nn.Module):
    """The table of torchvision's mobilenet_v3_small."""

    ROWS = [(16, 16, 3, 2, True, nn.ReLU), (72, 24, 3, 2, False, nn.ReLU), (88, 24, 3, 1, False, nn.ReLU),
            (96, 40, 5, 2, True, nn.Hardswish), (240, 40, 5, 1, True, nn.Hardswish), (240, 40, 5, 1, True, nn.Hardswish),
            (120, 48, 5, 1, True, nn.Hardswish), (144, 48, 5, 1, True, nn.Hardswish), (288, 96, 5, 2, True, nn.Hardswish),
            (576, 96, 5, 1, True, nn.Hardswish), (576, 96, 5, 1, True, nn.Hardswish)]

    def __init__(self, classes=1000):
        super().__init__()
        parts = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()]
        channels = 16
        for wide, out, kernel, stride, excite, act in self.ROWS:
            parts.append(Inverted(channels, wide, out, kernel, stride, excite, act))
            channels = out
        parts += [nn.Conv2d(channels, 576, 1, bias=False), nn.BatchNorm2d(576), nn.Hardswish()]
        self.features = nn.Sequential(*parts)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(1024, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


class ViT(nn.Module):
    """A vision transformer: patches by a convolution, a class token, nn.MultiheadAttention as torchvision uses it."""

    class Layer(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
            self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            y = self.ln_1(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return x + self.mlp(self.ln_2(x))

    def __init__(self, width=192, heads=3, depth=4, patch=16, image=96, classes=100):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*[self.Layer(width, heads) for _ in range(depth)])
        self.ln, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.ln(self.layers(x))[:, 0])


class Bert(nn.Module):
    """transformers' BertModel, random weights; the outputs are plain tensors."""

    def __init__(self, attention, pooled=True):
        super().__init__()
        from transformers import BertConfig, BertModel
        config = BertConfig(vocab_size=2000, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
                            max_position_embeddings=128)
        config._attn_implementation = attention
        self.model = BertModel(config, add_pooling_layer=pooled)

    def forward(self, input_ids, attention_mask):
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)
        return out[0], out[1]


class Tiny(nn.Module):
    """A network of every layer that small users write, small enough for a test."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(4, 16, 5, padding=2), nn.BatchNorm1d(16), nn.SiLU(), nn.Conv1d(16, 32, 3, 2, 1),
                                  nn.GroupNorm(4, 32), nn.GELU(), nn.AvgPool1d(2), nn.MaxPool1d(2))
        self.query, self.key, self.value = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.head = nn.Sequential(nn.Linear(32, 32), nn.LeakyReLU(0.1), nn.LayerNorm(32), nn.Linear(32, 5), nn.LogSoftmax(-1))

    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        split = lambda y: y.reshape(y.shape[0], y.shape[1], 4, 8).transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)))
        x = x + y.transpose(1, 2).flatten(2)
        return self.head(x.mean(1)), torch.argmax(x, -1)


def randomise(model):
    """Statistics of batch normalisation as after training, so that folding them is seen to be right."""
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2.0)
            with torch.no_grad():
                module.weight.uniform_(0.5, 1.5)
                module.bias.normal_(0, 0.2)


def bert_inputs(length=32):
    mask = torch.ones(2, length, dtype=torch.int64)
    mask[1, length - 7:] = 0
    return {"input_ids": torch.randint(0, 2000, (2, length)), "attention_mask": mask}


images = lambda size: {"x": torch.randn(2, 3, size, size)}
NETWORKS = {
    "resnet18": (ResNet18, lambda: images(64)),
    "mobilenet_v3_small": (MobileNetV3Small, lambda: images(96)),
    "vit": (ViT, lambda: images(96)),
    "bert": (lambda: Bert("sdpa"), bert_inputs),
    "bert_eager": (lambda: Bert("eager"), bert_inputs),
    "tiny": (Tiny, lambda: {"x": torch.randn(2, 4, 64)}),
}


def export(model, inputs, file):
    """With a symbolic batch where the exporter can, else with the batch of the example; says which."""
    shapes = {name: {0: torch.export.Dim("batch", min=2)} for name in inputs}
    for dynamic in (shapes, None):
        try:
            torch.onnx.export(model, (), file, kwargs=inputs, dynamo=True, opset_version=18, input_names=list(inputs),
                              dynamic_shapes=dynamic, external_data=False)
            return dynamic is not None
        except Exception:
            if dynamic is None:
                raise
            traceback.print_exc()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    print("torch", torch.__version__, "onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__, flush=True)
    failed = {}
    for name in arguments.names or NETWORKS:
        try:
            torch.manual_seed(7)
            make, make_inputs = NETWORKS[name]
            model = make()
            randomise(model)
            model.eval()
            inputs = make_inputs()
            file = os.path.join(arguments.folder, name + ".onnx")
            dynamic = export(model, inputs, file)
            session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
            outputs = session.run(None, {key: value.numpy() for key, value in inputs.items()})
            with torch.no_grad():
                expected = model(**inputs)
            expected = expected if isinstance(expected, tuple) else (expected,)
            difference = max(float(np.abs(a - b.numpy()).max()) for a, b in zip(outputs, expected))
            arrays = {"in." + key: value.numpy() for key, value in inputs.items()}
            arrays |= {"out." + port.name: value for port, value in zip(session.get_outputs(), outputs)}
            np.savez(os.path.join(arguments.folder, name + ".npz"), **arrays)
            print(f"{name}: {os.path.getsize(file) / 1e6:.2f} MB, opset {onnx.load(file).opset_import[0].version},",
                  f"{'dynamic' if dynamic else 'fixed'} batch, ONNX Runtime against PyTorch {difference:.1e}", flush=True)
        except Exception as error:  # the next network may still be written
            traceback.print_exc()
            failed[name] = repr(error)[:300]
    for name, reason in failed.items():
        print(f"{name}: not written: {reason}")


main()
