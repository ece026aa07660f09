"""The twin of gpu_step.cpp: the dense ResNet-50 step in PyTorch, eager, bf16 autocast, channels-last, cuDNN
benchmark and PyTorch's fused SGD. Prints one JSON object.

usage: python3 resnet50.py BATCH [GROUPS]
"""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = None
        if inputs != 4 * width or stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        side = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = F.relu(self.bn2(self.conv2(x)), inplace=True)
        return F.relu(self.bn3(self.conv3(x)).add_(side), inplace=True)


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, depth in enumerate([3, 4, 6, 3]):
        for i in range(depth):
            width = 64 << stage
            layers.append(Bottleneck(inputs, width, 2 if i == 0 and stage > 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def main():
    batch = int(sys.argv[1])
    groups = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    torch.backends.cudnn.benchmark = True
    model = resnet50().cuda().to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=5e-4,
                                fused=True)
    images = torch.randn(batch, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.randint(1000, (batch,), device="cuda")

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimiser.step()

    for _ in range(10):
        step()
    times = []
    for _ in range(groups):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(10):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 100)
    print(json.dumps({"batch": batch, "ms": statistics.median(times), "torch": torch.__version__,
                      "spread": max(times) / min(times)}))


main()
