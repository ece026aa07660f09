"""From a module to an ONNX file."""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch import nn

from . import _C
from ._errors import Error

_OPSET = 17


@contextlib.contextmanager
def _spelt_out(model: nn.Module) -> Iterator[None]:
    """Attention in operators that ONNX knows: in evaluation PyTorch takes a path with an operator of its own."""
    changed: List[Tuple[nn.Module, str, Any]] = []
    for module in model.modules():
        values: Dict[str, Any] = {}
        if isinstance(module, (nn.MultiheadAttention, nn.TransformerEncoderLayer)):
            values["training"] = True  # of this module alone: dropout layers inside stay as they are
        if isinstance(module, nn.MultiheadAttention):
            values["dropout"] = 0.0
        for name, value in values.items():
            changed.append((module, name, getattr(module, name)))
            setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def _inputs(example: Any) -> Tuple[Any, ...]:
    return tuple(example) if isinstance(example, (tuple, list)) else (example,)


def _names(model: nn.Module, count: int) -> List[str]:
    """What the model's forward pass calls its inputs."""
    parameters = [p for p in inspect.signature(model.forward).parameters.values()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(parameters) < count:
        return ["input"] if count == 1 else [f"input{i}" for i in range(count)]
    return [p.name for p in parameters[:count]]


def write_onnx(model: nn.Module, example: Any, path: str, outputs: Optional[Sequence[str]] = None) -> None:
    """Writes the model as an ONNX file with a batch of any size; `model` is in evaluation mode and has plain layers."""
    inputs = _inputs(example)
    names = _names(model, len(inputs))
    with torch.no_grad():
        found = model(*inputs)
    several = isinstance(found, (tuple, list))
    count = len(found) if several else 1
    out = list(outputs or (["output"] if count == 1 else [f"output{i}" for i in range(count)]))
    axes = {name: {0: "batch"} for name, tensor in zip(names, inputs) if tensor.dim() > 0}
    axes.update({name: {0: "batch"} for name in out})
    options: Dict[str, Any] = {"opset_version": _OPSET, "input_names": names, "output_names": out, "dynamic_axes": axes,
                               "training": torch.onnx.TrainingMode.PRESERVE}
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False
    try:
        with _spelt_out(model), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(model, inputs, path, **options)
    except Exception as problem:
        raise Error(f"export: PyTorch cannot write this model as ONNX: {' '.join(str(problem).split())}") from problem


def network_of(model: nn.Module, example: Any) -> Any:
    """The model as a network of general tensors in this process."""
    _C.require_onnx()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        write_onnx(model, example, file)
        return _C.Network(file, 0)


def write_network(model: nn.Module, example: Any, path: str, about: Dict[str, str]) -> None:
    """Writes the model as a ``model.hewn`` of general tensors, by way of ONNX."""
    _C.require_onnx()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        write_onnx(model, example, file)
        _C.network_from_onnx(file, path, about)
