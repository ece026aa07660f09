"""Pruned models on their kept blocks: modules, files, the runtime."""

import copy
import io
import threading

import numpy as np
import pytest
import torch
from conftest import batches, net, train
from torch import nn

import hewn


def pruned(model, inputs, block=8, sparsity=0.8, steps=30, **options):
    """A model pruned over a few steps, in evaluation mode, and its blocks."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    pruner = hewn.Pruner(model, "sa++r", block=block, sparsity=sparsity, steps=steps, optimizer=optimizer, min_blocks=10,
                         **options)
    for _ in range(steps):
        pruner.step()
        optimizer.zero_grad()
        model(inputs()).square().mean().backward()
        optimizer.step()
    return model.eval(), pruner.finish()


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.body = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.skip = nn.Conv2d(64, 64, 3, padding=1)
        self.head = nn.Linear(64, 40)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = self.pool(torch.relu(self.body(x)))
        x = torch.relu(x + self.skip(x))
        return self.head(x.mean((2, 3)))


@pytest.fixture(scope="module")
def conv():
    torch.manual_seed(0)
    return pruned(Conv(), lambda: torch.randn(4, 3, 12, 12))


def test_a_convolutional_network(conv, tmp_path):
    model, blocks = conv
    x = torch.randn(5, 3, 12, 12)
    fast = hewn.compress(model)
    assert isinstance(fast.body, hewn.KeptConv2d) and isinstance(model.body, nn.Conv2d)
    assert "kept blocks" in repr(hewn.report(fast))
    expected = model(x)
    torch.testing.assert_close(fast(x), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(fast(x.to(memory_format=torch.channels_last)), expected, rtol=1e-4, atol=1e-5)
    # saved and loaded
    torch.save(fast, tmp_path / "fast.pt")
    torch.testing.assert_close(torch.load(tmp_path / "fast.pt")(x), expected, rtol=1e-4, atol=1e-5)
    other = hewn.compress(model)
    with torch.no_grad():
        other.body.values.zero_()
    other.load_state_dict(fast.state_dict())
    torch.testing.assert_close(other(x), expected, rtol=1e-4, atol=1e-5)
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other(x), expected, rtol=1e-4, atol=1e-5)
    # and back
    plain = hewn.decompress(fast)
    assert type(plain.body) is nn.Conv2d and torch.equal(plain.body.weight, model.body.weight)
    assert hewn.blocks_of(plain)["body"] == blocks["body"]


def test_export(conv, tmp_path):
    model, _ = conv
    x = torch.randn(5, 3, 12, 12)
    expected = model(x).detach()
    for number, some in enumerate((model, hewn.compress(model))):
        path = tmp_path / f"{number}.hewn"
        hewn.export(some, x, path, about={"note": "a test"})
        loaded = hewn.load(path)
        assert loaded.input_shape == (3, 12, 12) and loaded.outputs == 40 and loaded.metadata["note"] == "a test"
        torch.testing.assert_close(loaded(x), expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(loaded(x.numpy()), expected.numpy(), rtol=1e-3, atol=1e-4)
    with pytest.raises(hewn.Error, match="expected a batch of 3x12x12"):
        loaded(x[:, :2])


def test_threads_share_a_model(conv, tmp_path):
    model, _ = conv
    hewn.export(model, torch.zeros(1, 3, 12, 12), tmp_path / "m.hewn")
    loaded = hewn.load(tmp_path / "m.hewn")
    fast = hewn.compress(model)
    inputs = [torch.randn(3, 3, 12, 12) for _ in range(4)]
    expected = [model(x).detach() for x in inputs]
    wrong = []

    def work(i):
        for _ in range(20):
            with torch.no_grad():
                for got in (loaded(inputs[i]), fast(inputs[i])):
                    if not torch.allclose(got, expected[i], rtol=1e-3, atol=1e-4):
                        wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_whole_network_on_the_runtime(conv):
    model, _ = conv
    x = torch.randn(5, 3, 12, 12)
    fast = hewn.compress(model, example=x)
    expected = model(x).detach()
    with torch.no_grad():
        torch.testing.assert_close(fast(x), expected, rtol=1e-4, atol=1e-4)
        assert fast._hewn_whole.runtime is not None
        fast.head.bias.add_(1)  # other weights: no longer what the runtime has
        torch.testing.assert_close(fast(x), expected + 1, rtol=1e-4, atol=1e-4)
    again = copy.deepcopy(fast)
    torch.testing.assert_close(again(x), expected + 1, rtol=1e-4, atol=1e-4)
    file = io.BytesIO()
    torch.save(fast, file)
    file.seek(0)
    torch.testing.assert_close(torch.load(file)(x), expected + 1, rtol=1e-4, atol=1e-4)


class Gates(nn.Module):
    """What only a graph of general tensors can say: two inputs, one of them of numbers of words, two outputs."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 5)

    def forward(self, tokens, scale):
        x = self.encoder(self.words(tokens))
        return self.head(x[:, 0]) * scale, x.mean(1)


@pytest.mark.parametrize("suffix", ["onnx", "hewn"])
def test_export_of_any_network(suffix, tmp_path):
    torch.manual_seed(0)
    tokens, scale = torch.randint(50, (3, 7)), torch.rand(3, 1)
    model = Gates().train()
    model.head.eval()
    with torch.no_grad():
        model.encoder.layers[0].linear1.weight[:64].zero_()
    wanted = copy.deepcopy(model).eval()(tokens, scale)
    modes = [module.training for module in model.modules()]
    for some in (model, hewn.compress(model)):
        path = tmp_path / f"model.{suffix}"
        hewn.export(some, (tokens, scale), path)
        network = hewn.load(path)
        assert isinstance(network, hewn.Network) and list(network.inputs) == ["tokens", "scale"]
        assert network.inputs["tokens"] == ("int64", (None, 7))
        for found, expected in zip(network(tokens, scale=scale), wanted):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        # another batch, as arrays
        found = network(np.tile(tokens.numpy().astype(np.int32), (2, 1)), np.tile(scale.numpy(), (2, 1)))
        assert isinstance(found[0], np.ndarray) and found[0].shape == (6, 5)
        np.testing.assert_allclose(found[0][3:], wanted[0].detach().numpy(), rtol=1e-4, atol=1e-5)
    assert [module.training for module in model.modules()] == modes
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"model.{suffix}"]
    for arguments, words in (((tokens,), "missing scale"), ((scale, scale), "input tokens: expected int64"),
                             ((tokens, scale, scale), "expected 2"), ((tokens[:, :3], scale), "input tokens")):
        with pytest.raises(hewn.Error, match=words):
            network(*arguments)
    with pytest.raises(hewn.Error, match="given twice"):
        network(tokens, scale, tokens=tokens)


def test_what_cannot_be_exported_is_said(tmp_path):
    class Odd(nn.Module):
        def forward(self, x):
            return torch.linalg.qr(x)[0]

    for suffix in ("onnx", "hewn"):
        with pytest.raises(hewn.Error, match="export: PyTorch cannot write this model as ONNX"):
            hewn.export(Odd(), torch.zeros(1, 8, 8), tmp_path / f"odd.{suffix}")
    assert not list(tmp_path.iterdir())
    model = net()
    hewn.Pruner(model, steps=40, block=4, min_blocks=50, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    with pytest.raises(hewn.Error, match="finish"):
        hewn.export(model, torch.zeros(1, 8), tmp_path / "m.onnx")


def test_gradients_on_kept_blocks(conv):
    model, blocks = conv
    fast = hewn.compress(model, all_layers=True)
    x = torch.randn(4, 3, 12, 12)
    grads = []
    for some in (model, fast):
        some.zero_grad()
        inputs = x.clone().requires_grad_()
        some(inputs).square().sum().backward()
        grads.append((inputs.grad, some))
    torch.testing.assert_close(grads[0][0], grads[1][0], rtol=1e-3, atol=1e-4)
    for name in ("stem", "body", "skip", "head"):
        dense, kept = getattr(model, name), getattr(fast, name)
        wanted = hewn._C.gather(dense.weight.grad, *blocks[name].native())
        torch.testing.assert_close(kept.values.grad, wanted, rtol=1e-3, atol=1e-4)
        if dense.bias is not None:
            torch.testing.assert_close(kept.bias.grad, dense.bias.grad, rtol=1e-3, atol=1e-4)
    # The dense form, for other devices and types, has the same gradient.
    out = torch.nn.functional.conv2d(torch.zeros(1, 32, 5, 5), fast.body.weight)
    assert out.requires_grad and torch.equal(fast.body.weight, model.body.weight)


def test_a_compressed_network_trains(conv):
    fast = hewn.compress(conv[0]).train()
    optimizer = torch.optim.Adam(fast.parameters(), lr=1e-3)
    x, target = torch.randn(8, 3, 12, 12), torch.randn(8, 40)
    kept = fast.body.kept.clone()
    losses = []
    for _ in range(10):
        loss = (fast(x) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and torch.equal(kept, fast.body.kept)


def test_a_transformer(tmp_path):
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model, blocks = pruned(nn.TransformerEncoder(layer, 2), lambda: torch.randn(2, 9, 64))
    fast = hewn.compress(model)
    assert isinstance(fast.layers[0].self_attn, hewn.KeptAttention)
    x = torch.randn(3, 9, 64)
    padding = torch.zeros(3, 9, dtype=torch.bool)
    padding[1, 5:] = True
    causal = torch.triu(torch.ones(9, 9, dtype=torch.bool), 1)
    for options in ({}, {"mask": causal}):
        torch.testing.assert_close(fast(x, **options), model(x, **options), rtol=1e-4, atol=1e-5)
    fine = ~padding.unsqueeze(-1)
    a, b = fast(x, src_key_padding_mask=padding), model.train()(x, src_key_padding_mask=padding)
    torch.testing.assert_close(a * fine, b * fine, rtol=1e-4, atol=1e-5)
    whole = hewn.compress(model.eval(), example=x)
    assert whole._hewn_whole.runtime is not None
    with torch.no_grad():
        torch.testing.assert_close(whole(x), model(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(whole(x[:2]), model(x[:2]), rtol=1e-4, atol=1e-5)
    plain = hewn.decompress(fast)
    assert plain.state_dict().keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, plain.state_dict()[name]), name
    assert hewn.blocks_of(plain) == blocks


@pytest.mark.parametrize("name", ["m.safetensors", "m.pt"])
def test_files_of_weights(name, tmp_path):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, block=4, sparsity=0.8, steps=40, min_blocks=50)
    train(model, pruner, optimizer, 40)
    blocks = pruner.finish()
    hewn.save(model, tmp_path / name)
    other = net()
    assert hewn.load(tmp_path / name, other) == blocks
    x, _ = next(batches(1))
    assert torch.equal(other(x), model(x))
    assert hewn.blocks_of(other) == blocks
    if name.endswith(".pt"):
        net().load_state_dict(torch.load(tmp_path / name))  # an ordinary state dict
    with pytest.raises(hewn.FormatError, match=name):
        hewn.load(tmp_path / name, nn.Linear(3, 3))
    with torch.no_grad():
        model[0].weight.fill_(1)
    with pytest.raises(hewn.Error, match="is not zero"):
        hewn.save(model, tmp_path / "wrong.safetensors", blocks)


def test_blocks_by_zeros():
    layer = nn.Linear(64, 48)
    with torch.no_grad():
        layer.weight[:16].zero_()
        layer.weight[:, 16:32] = 0
    blocks = hewn.blocks_of(layer)[""]
    assert blocks.block == (16, 16)
    assert blocks.grid().tolist() == [[False, True, True], [False] * 3, [False, True, True], [False, True, True]]
    assert hewn.blocks_of(nn.Linear(4, 4)) == {}


def test_sparse_bsr():
    layer = nn.Linear(32, 64)
    with torch.no_grad():
        layer.weight[8:40].zero_()
    sparse = hewn.to_sparse_bsr(layer.weight, hewn.blocks_of(layer, 8)[""])
    assert sparse.layout == torch.sparse_bsr and torch.equal(sparse.to_dense(), layer.weight)


def test_not_while_pruning():
    model = net()
    hewn.Pruner(model, steps=40, block=4, min_blocks=50, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    with pytest.raises(hewn.Error, match="finish"):
        hewn.compress(model)
