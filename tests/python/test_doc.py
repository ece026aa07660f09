"""The examples in docstrings, and types."""

import doctest
import importlib
import pkgutil
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
