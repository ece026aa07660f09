"""From a module to a file of the runtime, or to ONNX."""

from __future__ import annotations

import copy
import json
import operator
import os
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import torch
from torch import fx, nn
from torch.nn import functional as F

from . import _C
from ._blocks import Blocks
from ._errors import Error
from ._kept import KeptAttention, KeptConv2d, KeptLinear, _Kept
from ._onnx import network_of, write_network, write_onnx
from ._slots import conv_window, unwrapped


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, _Kept) or super().is_leaf_module(module, name)


class _Walk:
    """Writes the nodes of a traced module into a graph of the runtime, and down what it does not know."""

    def __init__(self, model: nn.Module, shape: Tuple[int, ...]):
        self.modules = dict(model.named_modules())
        self.graph = _C.Graph()
        self.shape = shape
        self.at: Dict[fx.Node, int] = {}
        self.tensors: Dict[str, torch.Tensor] = {}
        self.unknown: List[str] = []

    def walk(self, traced: fx.Graph) -> None:
        for node in traced.nodes:
            if not getattr(self, "_" + node.op)(node):
                self.unknown.append(self._words(node))
                self.at[node] = 0
        if self.unknown:
            known = dict.fromkeys(self.unknown)
            raise Error("export: the panels of the runtime do not know " + ", ".join(known) + "; they know Linear, Conv2d and batch "
                        "norms behind them, ReLU, Add, MaxPool2d, global average pooling and Flatten")

    def _words(self, node: fx.Node) -> str:
        if node.op == "call_module":
            module = self.modules[str(node.target)]
            return f"{type(module).__name__} ({node.target})"
        return getattr(node.target, "__name__", str(node.target))

    def _put(self, node: fx.Node, number: int) -> bool:
        self.at[node] = number
        return True

    def _first(self, node: fx.Node) -> int:
        return self.at[node.args[0]]

    def _placeholder(self, node: fx.Node) -> bool:
        if self.at:
            return bool(node.args)  # a further input with a default is not used
        sizes: Tuple[int, ...] = (*self.shape, 1, 1) if len(self.shape) == 1 else self.shape
        if len(sizes) != 3:
            raise Error(f"export: expected samples that are vectors or images, got a shape of {tuple(self.shape)}")
        return self._put(node, self.graph.input(*sizes))

    def _output(self, node: fx.Node) -> bool:
        return isinstance(node.args[0], fx.Node)

    def _get_attr(self, node: fx.Node) -> bool:
        return False

    def _call_module(self, node: fx.Node) -> bool:
        name = str(node.target)
        module = self.modules[name]
        if isinstance(module, (nn.Dropout, nn.Dropout2d, nn.Identity)):
            return self._put(node, self._first(node))
        if isinstance(module, (nn.Linear, KeptLinear, nn.Conv2d, KeptConv2d)):
            return self._layer(node, name, module)
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)) and module.running_mean is not None:
            for key, value in module.state_dict().items():
                self.tensors[f"{name}.{key}"] = value
            return self._put(node, self.graph.batch_norm(name, self._first(node), module.eps))
        if isinstance(module, nn.ReLU):
            return self._put(node, self.graph.relu(self._first(node)))
        if isinstance(module, nn.MaxPool2d):
            return self._max_pool(node, module.kernel_size, module.stride, module.padding, module.dilation,
                                  module.ceil_mode)
        if isinstance(module, nn.AdaptiveAvgPool2d) and module.output_size in (1, (1, 1)):
            return self._put(node, self.graph.global_avg_pool(self._first(node)))
        if isinstance(module, nn.Flatten) and (module.start_dim, module.end_dim) == (1, -1):
            return self._put(node, self.graph.flatten(self._first(node)))
        return False

    def _layer(self, node: fx.Node, name: str, module: Any) -> bool:
        weight = module.dense() if isinstance(module, _Kept) else module.weight.detach()
        self.tensors[f"{name}.weight"] = weight
        if module.bias is not None:
            self.tensors[f"{name}.bias"] = module.bias.detach()
        if isinstance(module, (nn.Linear, KeptLinear)):
            return self._put(node, self.graph.linear(name, self._first(node), weight.shape[0]))
        window = module.window if isinstance(module, KeptConv2d) else conv_window(module)
        if window is None:
            return False
        return self._put(node, self.graph.conv2d(name, self._first(node), weight.shape[0], window))

    def _max_pool(self, node: fx.Node, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
                  ) -> bool:
        stride = kernel if stride is None else stride
        pairs = [tuple(v) if isinstance(v, (tuple, list)) else (v, v) for v in (kernel, stride, padding, dilation)]
        if ceil or any(pair[0] != pair[1] for pair in pairs[1:]):
            return False
        window = [*pairs[0], pairs[1][0], pairs[2][0], pairs[3][0]]
        return self._put(node, self.graph.max_pool(self._first(node), window))

    def _call_function(self, node: fx.Node) -> bool:
        target: Any = node.target
        if target in (torch.relu, F.relu, torch.relu_):
            return self._put(node, self.graph.relu(self._first(node)))
        if target in (operator.add, operator.iadd, torch.add) and not node.kwargs:
            return self._add(node)
        if target is torch.flatten:
            return self._flatten(node)
        if target is F.dropout:
            return self._put(node, self._first(node))
        if target is F.adaptive_avg_pool2d and node.args[1] in (1, (1, 1)):
            return self._put(node, self.graph.global_avg_pool(self._first(node)))
        if target in (torch.mean,):
            return self._mean(node)
        if target is getattr and node.args[1] == "shape" or target is operator.getitem:
            return self._put(node, self.at[node.args[0]])
        return False

    def _call_method(self, node: fx.Node) -> bool:
        if node.target in ("relu", "relu_"):
            return self._put(node, self.graph.relu(self._first(node)))
        if node.target in ("add", "add_"):
            return self._add(node)
        if node.target == "flatten":
            return self._flatten(node)
        if node.target == "mean":
            return self._mean(node)
        if node.target == "size":  # of the batch, for a view
            return self._put(node, self._first(node))
        if node.target in ("view", "reshape") and len(node.args) == 3 and node.args[2] == -1:
            return self._put(node, self.graph.flatten(self._first(node)))
        if node.target == "contiguous":
            return self._put(node, self._first(node))
        return False

    def _add(self, node: fx.Node) -> bool:
        if len(node.args) != 2 or not all(isinstance(arg, fx.Node) for arg in node.args):
            return False
        return self._put(node, self.graph.add(self.at[node.args[0]], self.at[node.args[1]]))

    def _flatten(self, node: fx.Node) -> bool:
        start = node.args[1] if len(node.args) > 1 else node.kwargs.get("start_dim", 0)
        if start != 1 or len(node.args) > 2 or node.kwargs.get("end_dim", -1) != -1:
            return False
        return self._put(node, self.graph.flatten(self._first(node)))

    def _mean(self, node: fx.Node) -> bool:
        dims = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
        if not isinstance(dims, (tuple, list)) or sorted(d % 4 for d in dims) != [2, 3]:
            return False
        pooled = self.graph.global_avg_pool(self._first(node))
        return self._put(node, pooled if node.kwargs.get("keepdim") else self.graph.flatten(pooled))


def _traced(model: nn.Module, example: Any) -> _Walk:
    if not isinstance(example, torch.Tensor):
        raise Error("export: the panels of the runtime take one input")
    for module in model.modules():
        if isinstance(module, KeptAttention):
            raise Error("export: the panels of the runtime do not know attention")
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        graph = _Tracer().trace(model)
    except Exception as problem:
        raise Error(f"export: torch.fx cannot trace the model: {' '.join(str(problem).split())}") from problem
    finally:
        for module, training in modes:
            module.training = training
    walk = _Walk(model, tuple(example.shape[1:]))
    walk.walk(graph)
    return walk


def _with_names(walk: _Walk, blocks: Blocks) -> Dict[str, Any]:
    return {name: kept.native() for name, kept in blocks.items() if f"{name}.weight" in walk.tensors}


class _Whole:
    """A network of general tensors with one input and one output, as the runtime's other models are called."""

    def __init__(self, native: Any):
        self._native = native
        self.set_threads = native.set_threads

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return self._native.run([x])[0]


def runtime_of(model: nn.Module, example: torch.Tensor, blocks: Blocks) -> Optional[Any]:
    """The network on the runtime in this process; none where it does not know some operator."""
    try:
        walk = _traced(model, example)
        return _C.Model(walk.graph, walk.tensors, _with_names(walk, blocks))
    except Error:
        pass
    try:
        native = network_of(copy.deepcopy(model).eval(), example)
    except Error:
        return None
    return _Whole(native) if len(native.outputs) == 1 else None


def export(model: nn.Module, example: Any, path: Union[str, "os.PathLike[str]"], *,
           blocks: Optional[Blocks] = None, classes: Optional[List[str]] = None,
           about: Optional[Dict[str, str]] = None) -> None:
    """Writes a model as a file of the runtime, which ``hewn predict``, the C API and `hewn.load` run, or, where the path
    ends in ``.onnx``, as an ONNX file of opset 17.

    The model is traced in evaluation mode; a batch may have any size afterwards. Networks of vectors and images in
    layers that the panels of the runtime know become files of version 1, all others files of general tensors (version
    3), by way of ONNX. Dropped blocks are zeros in ONNX files, and absent in the others.

    Args:
        model: pruned (after `Pruner.finish`), compressed, or dense.
        example: a batch of inputs; a tuple where the model takes several.
        blocks: what `finish` returned; none: as `compress` finds them.
        classes: names of the outputs.
        about: texts for the file's metadata.

    >>> import torch, hewn, tempfile
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()
    >>> x = torch.randn(2, 8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hewn.export(model, x, f"{folder}/model.hewn")
    ...     y = hewn.load(f"{folder}/model.hewn")(x)
    >>> torch.allclose(y, model(x), atol=1e-6)
    True
    """
    from ._compress import blocks_of, decompress

    model = unwrapped(model)
    if any("_hewn_gates" in module.__dict__ for module in model.modules()):
        raise Error("export: the model is still being pruned; call Pruner.finish() first")
    target = os.fspath(path)
    if target.endswith(".onnx"):
        if classes or about:
            raise Error("export: classes and about are for model.hewn; an ONNX file from PyTorch has no place for them")
        return _write_whole(target, lambda file: write_onnx(decompress(model).eval(), example, file))
    kept = blocks_of(model) if blocks is None else blocks
    try:
        walk = _traced(model, example)
    except Error as unknown:
        texts = {**(about or {}), **({"hewn.classes": json.dumps(classes)} if classes else {})}
        try:
            return write_network(decompress(model).eval(), example, target, texts)
        except Error as problem:
            raise Error(f"{problem} ({unknown})") from problem
    _C.write_model(target, walk.graph, walk.tensors, _with_names(walk, kept), about or {}, classes or [])


def _write_whole(target: str, write: Callable[[str], None]) -> None:
    """Lets somebody write a file who does not do so at once, and puts it in its place when it is whole."""
    folder = os.path.dirname(os.path.abspath(target))
    handle, file = tempfile.mkstemp(suffix=".onnx", dir=folder)
    os.close(handle)
    try:
        write(file)
        os.chmod(file, 0o666 & ~_umask())
        os.replace(file, target)
    except BaseException:
        os.unlink(file)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
