"""Prunes a convolutional network in an ordinary loop, runs it on its kept blocks and writes it for the runtime."""

import argparse

import torch
from torch import nn

import hewn

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=400)
steps = options.parse_args().steps

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(128, 4),
)


def batch(size=64):
    """Images of stripes in four directions, under noise."""
    y = torch.randint(4, (size,))
    across, down = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="xy")
    waves = torch.stack([across, down, across + down, across - down])[y]
    return torch.sin(waves + 6 * torch.rand(size, 1, 1)).unsqueeze(1) + torch.randn(size, 3, 16, 16), y


optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
pruner = hewn.Pruner(model, block=8, sparsity=0.9, steps=steps, optimizer=optimizer)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
for step in range(steps):
    moment = pruner.step()
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % (steps // 8) == 0:
        print(f"step {step:4}  {moment.phase:14}  loss {loss.item():.3f}")
print(pruner.summary())
pruner.finish()

model.eval()
x, y = batch(512)
with torch.no_grad():
    print(f"accuracy {(model(x).argmax(1) == y).float().mean():.3f}")
    fast = hewn.compress(model, example=x)
    print(hewn.report(fast))
    print(f"largest difference of the compressed network: {(fast(x) - model(x)).abs().max():.1e}")
hewn.export(model, x, "stripes.hewn")
print(f"largest difference of stripes.hewn: {(hewn.load('stripes.hewn')(x) - model(x)).abs().max():.1e}")
