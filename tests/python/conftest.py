import copy

import pytest
import torch


@pytest.fixture(autouse=True)
def _repeatable():
    torch.manual_seed(0)
    torch.set_num_threads(1)


def net():
    return torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                               torch.nn.Linear(64, 4))


def batches(count, seed=0, inputs=32, classes=4, size=32):
    """A problem that can be learned: classes by a few of the inputs."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randn(classes, inputs, generator=generator) * (torch.arange(inputs) < 8)
    for _ in range(count):
        x = torch.randn(size, inputs, generator=generator)
        yield x, (x @ truth.t()).argmax(1)


def train(model, pruner, optimizer, steps, after=None, data=None):
    """Returns the loss of every step."""
    losses = []
    for step, (x, y) in enumerate(data if data is not None else batches(steps)):
        pruner.step()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if after is not None:
            after(step)
    return losses


def zero_blocks(weight, side):
    """Blocks of zeros in a Linear weight whose sides are multiples of `side`."""
    o, i = weight.shape
    tiles = weight.detach().reshape(o // side, side, i // side, side).abs().amax((1, 3))
    return int((tiles == 0).sum()), tiles.numel()


def clone(model):
    return copy.deepcopy(model)
