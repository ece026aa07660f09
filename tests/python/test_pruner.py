"""Pruning in a loop of one's own."""

import copy
import io
import pickle

import pytest
import torch
from conftest import batches, net, train, zero_blocks
from torch import nn

import hewn

OPTIONS = dict(block=4, sparsity=0.8, steps=60, min_blocks=50)


def test_three_lines_prune():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    losses = train(model, pruner, optimizer, 60)
    x, _ = next(batches(1))
    before = model(x)
    blocks = pruner.finish()
    assert sorted(blocks) == ["0", "2"]
    assert type(model[0]) is nn.Linear
    assert zero_blocks(model[0].weight, 4) == (103, 128)  # 0.2 * 128, rounded down, are kept
    assert not model[0].weight[~blocks["0"].mask(model[0].weight)].any()
    torch.testing.assert_close(model(x), before)
    assert losses[-1] < losses[0]


def test_keys_and_leaves_stay():
    model = net()
    keys = list(model.state_dict())
    leaves = list(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    train(model, pruner, optimizer, 30)
    assert list(model.state_dict()) == keys
    assert all(a is b for a, b in zip(model.parameters(), leaves))
    assert all(p.is_leaf for p in model.parameters())
    assert not torch.equal(model[0].weight, leaves[0])  # what is read is gated
    net().load_state_dict(model.state_dict())


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
    lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=1e-3),
    lambda p: torch.optim.AdamW(p, lr=1e-2),
    lambda p: torch.optim.RMSprop(p, lr=1e-3),
    lambda p: torch.optim.Adagrad(p, lr=1e-2),
])
@pytest.mark.parametrize("method", ["sa++r", "magnitude", "acdc"])
def test_any_optimizer(make, method):
    model = net()
    optimizer = make(model.parameters())
    pruner = hewn.Pruner(model, method, optimizer=optimizer, **OPTIONS)
    losses = train(model, pruner, optimizer, 60)
    blocks = pruner.finish()
    assert len(blocks["2"].kept) == pytest.approx(0.2 * 256, abs=1)
    assert losses[-1] < losses[0]


def test_dropped_weights_do_not_move():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    pruner = hewn.Pruner(model, "magnitude", optimizer=optimizer, **OPTIONS)
    leaf = model._modules["2"]._parameters["weight"]
    seen = []

    def note(step):
        if pruner.moment.phase == "SPARSE":
            dropped = ~pruner.blocks()["2"].mask(leaf)
            seen.append(leaf.detach()[dropped].clone())

    train(model, pruner, optimizer, 60, note)
    assert len(seen) > 20 and all(torch.equal(seen[0], later) for later in seen)
    assert seen[0].abs().max() > 0  # drop rule mask


def test_logits_follow_the_scheduler():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, logit_lr=7, **OPTIONS)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)
    rates = []

    def after(step):
        rates.append([group["lr"] for group in optimizer.param_groups])
        scheduler.step()

    train(model, pruner, optimizer, 60, after)
    assert len(rates[0]) == 2
    assert all(logits == pytest.approx(7 * weights) for weights, logits in rates)
    assert rates[-1][0] < 0.01


def test_a_scheduler_made_before():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9**step)
    with pytest.raises(hewn.Error, match="scheduler"):
        hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, scheduler=scheduler, **OPTIONS)
    train(model, pruner, optimizer, 60, lambda step: scheduler.step())
    assert len(scheduler.get_last_lr()) == 2
    pruner.finish()


def test_gradient_accumulation_is_the_large_batch():
    results = []
    for parts in (1, 4):
        torch.manual_seed(0)
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, sparse_execution="off", **OPTIONS)
        for x, y in batches(60):
            pruner.step()
            optimizer.zero_grad()
            for xs, ys in zip(x.chunk(parts), y.chunk(parts)):
                (nn.functional.cross_entropy(model(xs), ys) / parts).backward()
            optimizer.step()
        results.append((pruner.finish(), model[2].weight))
    assert results[0][0] == results[1][0]
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-3, atol=1e-4)


def test_progress_instead_of_steps():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    options = {**OPTIONS, "steps": None}
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **options)
    with pytest.raises(hewn.Error, match="progress"):
        pruner.step()
    phases = set()
    for i, (x, y) in enumerate(batches(100)):
        phases.add(pruner.step(progress=i / 100).phase)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    assert phases == {"DENSE", "SPARSIFICATION", "SPARSE"}
    assert len(pruner.finish()["2"].kept) == pytest.approx(51, abs=1)


@pytest.mark.parametrize("fused", [False, True])
def test_a_resumed_training_equals_an_uninterrupted_one(fused):
    def build():
        torch.manual_seed(0)
        model = net()
        if fused:
            pruner = hewn.Pruner(model, "sa++r", **OPTIONS)
            return model, pruner, hewn.Optimiser(pruner, "adamw", lr=1e-2, weight_decay=1e-2)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        return model, hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS), optimizer

    data = list(batches(60))
    whole = build()
    train(*whole, 60, data=data)
    for stop in (3, 25, 40, 55):
        first = build()
        train(*first, stop, data=data[:stop])
        file = io.BytesIO()
        torch.save([part.state_dict() for part in first], file)
        second = build()
        file.seek(0)
        for part, state in zip(second, torch.load(file)):
            part.load_state_dict(state)
        train(*second, 60 - stop, data=data[stop:])
        assert second[1].blocks() == whole[1].blocks(), stop
        for name, value in whole[0].state_dict().items():
            assert torch.equal(value, second[0].state_dict()[name]), (stop, name)


def test_copies_under_pruning():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    x, _ = next(batches(1))
    copies = []

    def note(step):
        if step in (3, 20, 50):
            model.eval()
            file = io.BytesIO()
            torch.save(model, file)
            file.seek(0)
            copies.append((model(x).detach(), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), torch.load(file)))
            model.train()

    train(model, pruner, optimizer, 60, note)
    for expected, *others in copies:
        for other in others:
            torch.testing.assert_close(other(x), expected, rtol=1e-5, atol=1e-6)
            assert list(other.state_dict()) == list(net().state_dict())
            assert isinstance(other[0], nn.Linear)
    twice = copy.deepcopy(copies[-1][1])
    torch.testing.assert_close(twice(x), copies[-1][0], rtol=1e-5, atol=1e-6)


def test_a_moving_average_follows():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    average = torch.optim.swa_utils.AveragedModel(model)
    pruner.follow(average)
    train(model, pruner, optimizer, 60, lambda step: average.update_parameters(model))
    x, _ = next(batches(1))
    expected = average(x)
    blocks = pruner.finish()
    torch.testing.assert_close(average(x), expected)
    assert type(average.module[0]) is nn.Linear
    assert not average.module[2].weight[~blocks["2"].mask(average.module[2].weight)].any()


def test_giving_up_leaves_the_module_as_it_was():
    model = net()
    weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pruner = hewn.Pruner(model, "sa++r", optimizer=optimizer, **OPTIONS)
    train(model, pruner, optimizer, 10)
    pruner.remove()
    assert model[0].weight is weight and type(model[0]) is nn.Linear


def test_choice_of_layers():
    def pruned(**choice):
        pruner = hewn.Pruner(net(), "sa++r", **OPTIONS, **choice)
        return [row["name"] for row in pruner.plan if row["pruned"]]

    assert pruned() == ["0", "2"]
    assert pruned(include=["2"]) == ["2"]
    assert pruned(exclude="2") == ["0"]
    assert pruned(include=lambda name, module: module.in_features == 64) == ["2"]
    assert pruned(exclude=lambda name, module: name == "0") == ["2"]


def test_errors_have_the_sentences_of_the_library():
    with pytest.raises(hewn.Error, match=r"sparsity: expected a number in \[0, 1\), got 1.5"):
        hewn.Pruner(net(), sparsity=1.5, steps=10)
    with pytest.raises(hewn.Error, match="method"):
        hewn.Pruner(net(), "nonsense", steps=10)
    with pytest.raises(hewn.Error, match="logit-lrr"):
        hewn.Pruner(net(), steps=10, logit_lrr=3)
    with pytest.raises(hewn.Error, match="nothing would be pruned"):
        hewn.Pruner(net(), block=64, steps=10)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    with pytest.raises(hewn.Error, match="does not train the weight of layer 0"):
        hewn.Pruner(net(), optimizer=optimizer, **OPTIONS)
    model = net()
    pruner = hewn.Pruner(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), **OPTIONS)
    pruner.step()
    with pytest.raises(hewn.Error, match="not sparse yet"):
        pruner.finish()


def test_summary():
    model = net()
    pruner = hewn.Pruner(model, "sa++r", optimizer=torch.optim.SGD(model.parameters(), lr=0.1), **OPTIONS)
    pruner.step()
    text = repr(pruner)
    assert "DENSE after 1 of 60 steps" in text and "64x32" in text
    assert pruner._repr_html_().startswith("<table>")
