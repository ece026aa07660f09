"""Networks of general tensors: ONNX files, and ``model.hewn`` files that were made of them."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple, Union

import torch

from . import _C
from ._errors import Error

PathLike = Union[str, "os.PathLike[str]"]
Port = Tuple[str, Tuple[Optional[int], ...]]


class Network:
    """A network from an ONNX file, or from a ``model.hewn`` that was made of one, ready to run.

    Takes NumPy arrays or tensors, in the order of its inputs or by their names, and returns the same kind: one where it
    has one output, else a tuple. Any number of threads may call it. Blocks of zeros in its weights are left out.

    Args:
        block: look for blocks of zeros of this size only.
        threads: how many a call may use; 0: all cores.
    """

    def __init__(self, path: PathLike, block: int = 0, threads: Optional[int] = None):
        self._native = _C.Network(os.fspath(path), block)
        if threads is not None:
            self._native.set_threads(threads)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        given = self._in_order(arrays, named)
        out = self._native.run([torch.as_tensor(array) for array in given])
        if not any(isinstance(array, torch.Tensor) for array in given):
            out = [tensor.numpy() for tensor in out]
        return out[0] if len(out) == 1 else tuple(out)

    def _in_order(self, arrays: Tuple[Any, ...], named: Dict[str, Any]) -> List[Any]:
        names = list(self.inputs)
        if len(arrays) > len(names):
            raise Error(f"inputs: expected {len(names)} ({', '.join(names)}), got {len(arrays)}")
        for name in named:
            if name not in names[len(arrays):]:
                raise Error(f"input {name}: " + ("given twice" if name in names else
                                                f"the network has none of this name; it has {', '.join(names)}"))
        missing = [name for name in names[len(arrays):] if name not in named]
        if missing:
            raise Error(f"inputs: missing {', '.join(missing)}")
        return [*arrays, *(named[name] for name in names[len(arrays):])]

    @property
    def threads(self) -> int:
        """How many a call may use; 0 when set: all cores."""
        return self._native.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._native.set_threads(count)

    @property
    def inputs(self) -> Dict[str, Port]:
        """Type and shape of each input by its name; None is a dimension that may be anything."""
        return _ports(self._native.inputs)

    @property
    def outputs(self) -> Dict[str, Port]:
        """The same of outputs."""
        return _ports(self._native.outputs)

    def __repr__(self) -> str:
        return f"hewn.Network({_words(self.inputs)} -> {_words(self.outputs)})"


def _ports(native: List[Tuple[str, str, List[int]]]) -> Dict[str, Port]:
    return {name: (kind, tuple(None if size < 0 else size for size in sizes)) for name, kind, sizes in native}


def _words(ports: Dict[str, Port]) -> str:
    return ", ".join(f"{name} {kind} {'x'.join('?' if size is None else str(size) for size in sizes) or 'number'}"
                     for name, (kind, sizes) in ports.items())
