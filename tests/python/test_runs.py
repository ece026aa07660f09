"""Run folders, and trainers that call back."""

import json

import numpy as np
import pytest
import torch
from conftest import batches, net
from torch import nn

import hewn


def folder(path, sparsity, accuracy):
    """A run folder as `hewn train` leaves one."""
    model = nn.Linear(32, 32)
    with torch.no_grad():
        model.weight[: int(32 * sparsity) // 4 * 4] = 0
    path.mkdir(parents=True)
    options = {"method": "sa++r", "sparsity": sparsity, "block": "4"}
    (path / "config.json").write_text(json.dumps({"hewn": "0.1.0", "steps": 2, "options": options}))
    lines = [{"event": "phase", "step": 1, "phase": "DENSE"},
             {"event": "train", "step": 1, "loss": 2.5, "active": {"": 1.0}},
             {"event": "test", "step": 2, "metrics": {"accuracy": accuracy}}]
    (path / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"event":')
    (path / "summary.json").write_text(json.dumps({"metrics": {"accuracy": accuracy}}))
    hewn.save(model, path / "model.safetensors", hewn.blocks_of(model, 4))
    return path


def test_read_run(tmp_path):
    run = hewn.read_run(folder(tmp_path / "a", 0.5, 0.9))
    assert run.config["method"] == "sa++r" and run.summary["metrics"]["accuracy"] == 0.9
    assert run.metrics["event"].tolist() == ["phase", "train", "test"]
    np.testing.assert_equal(run.metrics["loss"], [np.nan, 2.5, np.nan])
    assert run.metrics["metrics.accuracy"][2] == 0.9
    assert run.masks[""].density == 0.5
    assert sorted(run.state_dict()) == ["bias", "weight"]
    assert len(pytest.importorskip("pandas").DataFrame(run.metrics)) == len(run.frame())
    with pytest.raises(hewn.Error, match="expected a run folder"):
        hewn.read_run(tmp_path)


def test_plots(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    runs = [folder(tmp_path / str(s), s, 1 - s / 4) for s in (0.5, 0.75)]
    figure = hewn.plot_tradeoff(runs)
    assert figure.axes[0].lines[0].get_xdata().tolist() == [0.5, 0.75]
    figure = hewn.plot_masks(hewn.read_run(runs[0]))
    assert figure.axes[0].images[0].get_array().shape == (8, 8)
    with pytest.raises(hewn.Error, match="nothing|no speed"):
        hewn.plot_tradeoff(runs, metric="speed")


class Trainer:
    """What PrunerCallback asks of a trainer, as Lightning would be asked."""

    def __init__(self, model, callback, steps, accumulate):
        self.optimizers = [torch.optim.SGD(model.parameters(), lr=0.1)]
        self.estimated_stepping_batches = steps
        self.global_step = 0
        self.lr_scheduler_configs = []
        callback.setup(self, model, stage="fit")
        callback.on_fit_start(self, model)
        for i, (x, y) in enumerate(batches(steps * accumulate)):
            callback.on_train_batch_start(self, model, (x, y), i)
            (nn.functional.cross_entropy(model(x), y) / accumulate).backward()
            if (i + 1) % accumulate == 0:
                self.optimizers[0].step()
                self.optimizers[0].zero_grad()
                self.global_step += 1
        callback.on_train_end(self, model)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_callback(accumulate):
    model = net()
    callback = hewn.PrunerCallback("sa++r", block=4, sparsity=0.8, min_blocks=50)
    Trainer(model, callback, 40, accumulate)
    assert callback.blocks["2"].density == pytest.approx(0.2, abs=0.01)
    assert type(model[2]) is nn.Linear and callback.state_dict() == {}
