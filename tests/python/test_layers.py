"""Kinds of layers, and code that reads their weights directly."""

import copy

import pytest
import torch
from torch import nn

import hewn

OPTIONS = dict(block=4, sparsity=0.75, min_blocks=10)


def loop(model, inputs, steps=40, optimizer=None, **options):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)
    pruner = hewn.Pruner(model, "sa++r", steps=steps, optimizer=optimizer, **{**OPTIONS, **options})
    for _ in range(steps):
        pruner.step()
        optimizer.zero_grad()
        model(inputs()).square().mean().backward()
        optimizer.step()
    return pruner


@pytest.mark.parametrize("layer, shape", [
    (nn.Conv2d(8, 16, 3, padding=1), (2, 8, 6, 6)),
    (nn.Conv2d(8, 16, 3, groups=2), (2, 8, 6, 6)),
    (nn.Conv2d(8, 16, (1, 3), padding="same"), (2, 8, 6, 6)),
    (nn.Conv2d(8, 16, 3, stride=2, padding=1, padding_mode="reflect"), (2, 8, 6, 6)),
    (nn.Conv1d(8, 16, 3, groups=2), (2, 8, 12)),
    (nn.Linear(33, 30, bias=False), (3, 5, 33)),
])
def test_layer(layer, shape):
    layer = copy.deepcopy(layer)
    pruner = loop(layer, lambda: torch.randn(shape))
    x = torch.randn(shape)
    before = layer(x)
    blocks = pruner.finish()[""]
    assert blocks.density == pytest.approx(0.25, abs=0.05)
    assert blocks.mask(layer.weight).eq(layer.weight != 0).all()
    torch.testing.assert_close(layer(x), before, rtol=1e-4, atol=1e-5)


def test_channels_last():
    layer = nn.Conv2d(8, 16, 3, padding=1).to(memory_format=torch.channels_last)
    pruner = loop(layer, lambda: torch.randn(2, 8, 6, 6).to(memory_format=torch.channels_last))
    assert pruner.finish()[""].mask(layer.weight).eq(layer.weight != 0).all()


def test_memory_format_may_not_change():
    layer = nn.Conv2d(8, 16, 3, padding=1)
    pruner = hewn.Pruner(layer, steps=40, optimizer=torch.optim.SGD(layer.parameters(), lr=0.1), **OPTIONS)
    layer.to(memory_format=torch.channels_last)
    with pytest.raises(hewn.Error, match="memory format"):
        layer(torch.randn(2, 8, 6, 6))
    for late in (pruner.step, pruner.finish):  # what moves behind the pruner's back is noticed, not read
        with pytest.raises(hewn.Error, match="memory format"):
            late()


def test_embedding_and_tied_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(48, 32)
            self.body = nn.Linear(32, 32)
            self.head = nn.Linear(32, 48, bias=False)
            self.head.weight = self.table.weight

        def forward(self, tokens):
            return self.head(torch.relu(self.body(self.table(tokens))))

    model = Tied()
    pruner = loop(model, lambda: torch.randint(48, (4, 7)), embeddings=True)
    x = torch.randint(48, (4, 7))
    assert torch.equal(model.table.weight, model.head.weight)
    other = copy.deepcopy(model)
    assert other.head._parameters["weight"] is other.table._parameters["weight"]
    before = model(x)
    torch.testing.assert_close(other(x), before, rtol=1e-5, atol=1e-6)
    blocks = pruner.finish()
    assert sorted(blocks) == ["body", "table"]
    assert model.head.weight is model.table.weight
    torch.testing.assert_close(model(x), before, rtol=1e-5, atol=1e-6)


def test_attention_with_other_widths():
    class Cross(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(32, 4, kdim=16, vdim=24, batch_first=True)

        def forward(self, x):
            return self.attention(x, x[..., :16], x[..., :24])[0]

    model = Cross()
    pruner = loop(model, lambda: torch.randn(2, 5, 32))
    before = model.eval()(x := torch.randn(2, 5, 32))
    blocks = pruner.finish()
    assert sorted(blocks) == ["attention." + name for name in ("k_proj", "out_proj", "q_proj", "v_proj")]
    torch.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-5)


def test_the_fused_path_of_encoders_sees_gated_weights():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    pruner = loop(model, lambda: torch.randn(2, 5, 32))
    x = torch.randn(2, 5, 32)
    slow = model.train()(x)  # module by module
    with torch.no_grad():
        fast = model.eval()(x)
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-5)
    copied = copy.deepcopy(model)
    with torch.no_grad():
        torch.testing.assert_close(copied(x), fast, rtol=1e-4, atol=1e-5)
    blocks = pruner.finish()
    assert blocks["layers.0.self_attn.in_proj"].groups == 3
    with torch.no_grad():
        torch.testing.assert_close(model(x), fast, rtol=1e-4, atol=1e-5)
    weight = model.layers[0].self_attn.in_proj_weight
    assert blocks["layers.0.self_attn.in_proj"].mask(weight).eq(weight != 0).all()


@pytest.mark.parametrize("score", ["attention", "gated-norm", "exp", "identity-mask", "l1-mask", "powerprop", "attention-power",
                                   "reconstruction", "magnitude"])
def test_every_score(score):
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(128, 16))
    pruner = loop(model, lambda: torch.randn(4, 3, 6, 6), score=score, schedule="one-shot", drop="mask",
                  optimizer=torch.optim.SGD(model.parameters(), lr=1e-2, weight_decay=1e-4))
    before = model(x := torch.randn(4, 3, 6, 6))
    pruner.finish()
    torch.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("score", ["attention", "gated-norm", "exp", "identity-mask", "magnitude"])
def test_what_compilers_see_is_what_runs(score, monkeypatch):
    layer = nn.Conv2d(6, 8, 3)
    layer.weight.requires_grad_()
    pruner = hewn.Pruner(layer, score=score, schedule="sparse", sparsity=0.5, block=3, steps=10, min_blocks=1,
                         optimizer=torch.optim.SGD(layer.parameters(), lr=0.1))
    pruner.step()
    gate = layer._hewn_gates["weight"]
    leaf = layer._parameters["weight"]
    factor = torch.randn_like(leaf)
    grads = []
    for compiling in (False, True):
        monkeypatch.setattr(hewn._gated, "is_compiling", lambda: compiling)
        leaves = [leaf] if gate.logits is None else [leaf, gate.logits]
        grads.append(torch.autograd.grad((gate(leaf) * factor).sum(), leaves))
    for eager, traced in zip(*grads):
        torch.testing.assert_close(eager, traced)
