"""A loop in Python trains what `hewn train` trains."""

import math
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import hewn

# More steps, and rounding that differs between optimisers puts a unit on the other side of its ReLU.
STEPS, IMAGES, BATCH = 24, 512, 256
PROGRAM = Path(os.environ.get("HEWN_PROGRAM", Path(__file__).resolve().parents[2] / "build/release/hewn"))


def write_mnist(folder):
    """Images of ten kinds of noise, in MNIST's files."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for name, count in (("train", IMAGES), ("t10k", 20)):
        labels = np.arange(count) % 10
        images = rng.integers(0, 140, (count, 784)) + np.where(np.arange(784) % 10 == labels[:, None], 110, 20)
        head = struct.pack(">IIII", 0x803, count, 28, 28)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(head + images.astype(np.uint8).tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels.astype(np.uint8).tobytes())
        if name == "train":
            training = torch.from_numpy(images.astype(np.uint8)), torch.from_numpy(labels)
    return training


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)

    def forward(self, x):
        return self.fc3(self.fc2(self.fc1(x).relu_()).relu_())


def batch(data, step):
    per_epoch = IMAGES // BATCH
    order = torch.tensor(hewn._C.permutation(0, step // per_epoch, IMAGES))
    rows = order[step % per_epoch * BATCH :][:BATCH]
    scale, shift = torch.tensor(1 / (255 * 0.3081)), torch.tensor(-0.1307 / 0.3081)
    return data[0][rows].float().mul_(scale).add_(shift), data[1][rows]


def rate(step):
    rise = round(0.05 * STEPS)
    if step < rise:
        return 0.1 * (step + 1) / (rise + 1)
    return 0.1 * (1 + math.cos(math.pi * ((step - rise) / (STEPS - rise)))) / 2


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    folder = tmp_path_factory.mktemp("train")
    data = write_mnist(folder / "data")
    torch.manual_seed(0)
    start = Mlp()
    hewn.save(start, folder / "start.safetensors", {})
    subprocess.run([PROGRAM, "train", "--data", f"mnist:{folder}/data", "--init", f"{folder}/start.safetensors",
                    "--method", "sa++r", "--steps", str(STEPS), "--threads", "1", "--sparse-execution", "on",
                    "--out", f"{folder}/run"], check=True, capture_output=True)
    return start, data, hewn.read_run(folder / "run")


def own_loop(trained, fused):
    start, data, run = trained
    model = Mlp()
    model.load_state_dict(start.state_dict())
    options = dict(block=16, sparsity=0.9, steps=STEPS, sparse_execution="on")
    options.update(trained=True, chain=["fc1", "fc2", "fc3"])  # as --init and --model say
    if fused:
        pruner = hewn.Pruner(model, "sa++r", **options)
        optimizer = hewn.Optimiser(pruner, "sgd", lr=0.1, weight_decay=5e-4)
    else:
        weights = [p for p in model.parameters() if p.dim() > 1]
        others = [p for p in model.parameters() if p.dim() == 1]
        groups = [{"params": weights, "weight_decay": 5e-4}, {"params": others}]
        optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)
        pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **options)
    for step in range(STEPS):
        x, y = batch(data, step)
        pruner.step()
        for group in optimizer.param_groups[: 1 if fused else 2]:
            group["lr"] = rate(step)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return pruner.finish(), model.state_dict(), run


def test_the_fused_optimiser_gives_the_same_bits(trained):
    blocks, state, run = own_loop(trained, fused=True)
    assert blocks == run.masks
    for name, tensor in run.state_dict().items():
        assert torch.equal(tensor, state[name]), name


def test_torch_optim_gives_the_same_blocks(trained):
    blocks, state, run = own_loop(trained, fused=False)
    assert blocks == run.masks
    for name, tensor in run.state_dict().items():
        torch.testing.assert_close(state[name], tensor, rtol=1e-5, atol=1e-5)
