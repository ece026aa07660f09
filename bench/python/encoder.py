#!/usr/bin/env python3
"""A transformer encoder that sorts Fashion-MNIST, dense and with 90 % of its blocks gone, in one ordinary loop.

    python bench/python/encoder.py [FOLDER of the four .gz files] [EPOCHS] [SEED]

4 layers, 256 wide, feed-forward 1024, 64 tokens (patches of 4x4 of images padded to 32x32); AdamW, one-cycle schedule.
"""

import copy
import gzip
import sys
import time

import numpy as np
import torch
from torch import nn

import hewn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def images(folder, part):
    with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    x = nn.functional.pad(torch.from_numpy(pixels.copy()).float() / 255 - 0.286, (2, 2, 2, 2)) / 0.353
    tokens = x.unfold(1, 4, 4).unfold(2, 4, 4).reshape(len(x), 64, 16)
    return tokens.to(DEVICE), torch.from_numpy(labels.copy()).long().to(DEVICE)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, 256)
        self.place = nn.Parameter(0.02 * torch.randn(64, 256))
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.norm = nn.LayerNorm(256)
        self.head = nn.Linear(256, 10)

    def forward(self, tokens):
        return self.head(self.norm(self.encoder(self.embed(tokens) + self.place).mean(1)))


def train(model, data, epochs, sparsity):
    x, y = data
    size = 256
    steps = epochs * (len(x) // size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    pruner = None
    if sparsity > 0:
        pruner = hewn.Pruner(model, block=16, sparsity=sparsity, steps=steps, optimizer=optimizer, include="encoder.*")
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, [g["lr"] for g in optimizer.param_groups], steps)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(x)).to(DEVICE)
        for i in range(len(x) // size):
            if pruner is not None:
                pruner.step()
            rows = order[i * size:(i + 1) * size]
            with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
                loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
    if pruner is not None:
        blocks = pruner.finish()
        kept, all_blocks = (sum(f(b) for b in blocks.values()) for f in (lambda b: len(b.kept), lambda b: b.blocks))
        print(f"  kept {kept} of {all_blocks} blocks in {len(blocks)} layers")


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data
    right = sum((model(x[i:i + 1000]).argmax(1) == y[i:i + 1000]).sum().item() for i in range(0, len(x), 1000))
    return 100 * right / len(x)


def main(folder="/usr/share/datasets/fashion-mnist", epochs="10", seed="0"):
    training, test = images(folder, "train"), images(folder, "t10k")
    torch.manual_seed(int(seed))
    first = Classifier().to(DEVICE)
    found = {}
    for sparsity in (0.0, 0.9):
        model = copy.deepcopy(first)
        torch.manual_seed(int(seed) + 1)
        begin = time.time()
        train(model, training, int(epochs), sparsity)
        found[sparsity] = accuracy(model, test)
        print(f"{sparsity:.0%} of the blocks gone: {found[sparsity]:.2f} % right after {epochs} epochs, seed {seed}, "
              f"{time.time() - begin:.0f} s")
    print(f"lost: {found[0.0] - found[0.9]:.2f} points")


if __name__ == "__main__":
    main(*sys.argv[1:])
