"""Prunes a transformer encoder under AdamW with warm-up, keeping a moving average of its weights."""

import argparse

import torch
from torch import nn

import hewn

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=300)
steps = options.parse_args().steps


class Classifier(nn.Module):
    """Says which token comes most often."""

    def __init__(self, tokens=8, width=128):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, tokens)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(1))


def batch(size=64):
    x = torch.randint(8, (size, 24))
    return x, nn.functional.one_hot(x, 8).sum(1).argmax(1)


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
pruner = hewn.Pruner(model, block=16, sparsity=0.8, steps=steps, optimizer=optimizer, exclude=["head"], min_blocks=50)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, (s + 1) / 20) * (1 - s / steps))
average = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda old, new, n: old.lerp(new, 0.05))
pruner.follow(average)  # its gates are those of the model, its weights its own
for step in range(steps):
    moment = pruner.step()
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    average.update_parameters(model)
    if step % (steps // 6) == 0:
        print(f"step {step:4}  {moment.phase:14}  loss {loss.item():.3f}")
pruner.finish()

x, y = batch(1024)
for name, network in (("model", model), ("average", average.module)):
    fast = hewn.compress(network.eval())
    with torch.no_grad():
        print(f"{name}: accuracy {(fast(x).argmax(1) == y).float().mean():.3f}")
print(hewn.report(fast))
