"""The examples in docstrings, and types."""

import doctest
import importlib
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

import hewn

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(hewn.__path__) if module.name != "_C"])
def test_examples(name):
    torch.manual_seed(0)
    result = doctest.testmod(importlib.import_module(f"hewn.{name}"))
    assert result.failed == 0


def test_types():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    done = subprocess.run(["mypy", "--no-error-summary", "--cache-dir=/tmp/hewn-mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_everything_public_is_documented():
    for name in hewn.__all__:
        assert name == "Blocks" or getattr(hewn, name).__doc__, name


class _TwoInputs(torch.nn.Module):
    def forward(self, tokens, scale):
        return tokens.float() * scale, tokens.float().mean(1)


def test_snippets_of_the_manual(tmp_path, monkeypatch):
    """Every Python snippet of docs/python.md runs, one after the other, on what a reader would have around it."""
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(snippets) == 2
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4))
    steps = 40
    tokens, scale = torch.randint(50, (3, 7)), torch.rand(3, 1)
    hewn.export(_TwoInputs(), (tokens, scale), "model.onnx")
    around = {"model": model, "steps": steps, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
              "criterion": torch.nn.functional.cross_entropy, "tokens": tokens, "scale": scale,
              "batches": [(torch.randn(8, 256), torch.randint(4, (8,))) for _ in range(steps)]}
    for snippet in snippets:
        exec(snippet, around)
    assert isinstance(around["fast"][0], hewn.KeptLinear)
    torch.testing.assert_close(around["logits"], tokens * scale)
