#!/usr/bin/env python3
"""What the Python package costs and gains against plain PyTorch: CPU time of one thread, the ways in turn.

    build/python/bin/python bench/python/run.py [transformer] [resnet] [overhead]
"""

import statistics
import sys
import time

import torch
from torch import nn

import hewn


def times(ways, rounds):
    """Median CPU seconds of each way; they take turns, so that what disturbs one disturbs all."""
    spent = {name: [] for name in ways}
    for name, way in ways.items():
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.thread_time()
            way()
            spent[name].append(time.thread_time() - begin)
    return {name: statistics.median(values) for name, values in spent.items()}


def show(title, found, against):
    print(title)
    for name, seconds in found.items():
        print(f"  {name:34} {1000 * seconds:9.2f} ms  {found[against] / seconds:6.2f}x  ({seconds / found[against]:.3f})")


def prune(model, inputs, steps, **options):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    pruner = hewn.Pruner(model, "sa++r", steps=steps, optimizer=optimizer, **options)
    for _ in range(steps):
        pruner.step()
        optimizer.zero_grad()
        model(inputs()).square().mean().backward()
        optimizer.step()
    return pruner.finish()


def transformer():
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    model = nn.TransformerEncoder(layer, 4)
    prune(model, lambda: torch.randn(2, 64, 256), 20, block=16, sparsity=0.9)
    model.eval()
    x = torch.randn(64, 64, 256)
    fast, whole = hewn.compress(model), hewn.compress(model, example=x)
    with torch.no_grad():
        difference = max((way(x) - model(x)).abs().max().item() for way in (fast, whole))
        found = times({"PyTorch, zeros": lambda: model(x), "hewn.compress": lambda: fast(x),
                       "hewn.compress(example=)": lambda: whole(x)}, 7)
    show(f"TransformerEncoder 4 x 256/1024, 64 tokens, batch 64, 90 % (difference {difference:.1e})", found,
         "PyTorch, zeros")


def resnet():
    import tempfile

    import torchvision

    model = torchvision.models.resnet18()
    prune(model, lambda: torch.randn(2, 3, 64, 64), 30, block=16, sparsity=0.9)
    model.eval()
    x = torch.randn(32, 3, 224, 224)
    modules = hewn.compress(model)
    whole = hewn.compress(model, example=x)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        torch.save(modules, f"{folder}/fast.pt")
        loaded = torch.load(f"{folder}/fast.pt")
        hewn.export(model, x, f"{folder}/resnet18.hewn")
        runtime = hewn.load(f"{folder}/resnet18.hewn", )
        runtime.threads = 1
        expected = model(x)
        scale = expected.abs().max().item()
        for name, way in (("compressed", modules), ("saved and loaded", loaded), ("whole", whole), ("exported", runtime)):
            print(f"  {name}: relative difference {(way(x) - expected).abs().max().item() / scale:.1e}")
        found = times({"PyTorch, zeros": lambda: model(x), "hewn.compress": lambda: modules(x),
                       "hewn.compress(example=)": lambda: whole(x), "hewn.load": lambda: runtime(x)}, 5)
    show("torchvision resnet18, 224x224, batch 32, 90 %", found, "PyTorch, zeros")


def overhead():
    """A training step of the default mlp at batch 256, in the phases of a schedule."""
    def mlp():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))

    x, y = torch.randn(256, 784), torch.randint(10, (256,))
    sgd = dict(lr=0.01, momentum=0.9, weight_decay=5e-4, nesterov=True)

    def step(model, optimizer, before=lambda: None):
        def run():
            before()
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return run

    plain = mlp()
    ways = {"PyTorch": step(plain, torch.optim.SGD(plain.parameters(), **sgd))}
    steps = 10_000
    for schedule, phase in (("one-shot", "DENSE"), ("sparse", "SPARSE")):
        for fused in (True, False):
            model = mlp()
            options = dict(block=16, sparsity=0.9, steps=steps, schedule=schedule)
            if fused:
                pruner = hewn.Pruner(model, "sa++r", **options)
                optimizer = hewn.Optimiser(pruner, "sgd", **sgd)
            else:
                optimizer = torch.optim.SGD(model.parameters(), **sgd)
                pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **options)
            name = f"{phase}, {'hewn.Optimiser' if fused else 'torch.optim.SGD'}"
            ways[name] = step(model, optimizer, pruner.step)
    show("mlp 784-1024-1024-10, a training step at batch 256", times(ways, 15), "PyTorch")


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, hewn {hewn.__version__} ({hewn._C.instructions()}), one thread, medians")
    for part in sys.argv[1:] or ["transformer", "resnet", "overhead"]:
        torch.manual_seed(0)
        {"transformer": transformer, "resnet": resnet, "overhead": overhead}[part]()
