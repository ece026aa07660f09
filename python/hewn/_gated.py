"""Modules whose weights are seen through a gate.

A gated module's class is a subclass of its own, made when needed, in which `weight` is a property: it gives the gated
weight to whoever reads it, the module's forward pass or code around it. The parameter itself stays registered under
its name, so that state dicts, optimisers and `parameters()` see what they always saw.
"""

from __future__ import annotations

import functools
from typing import Any, Dict, Optional, Tuple

import torch
from torch import nn

from . import _C
from ._compat import is_compiling

Layout = Tuple[int, int, int, int, int, int]


class Gate:
    """What stands between a parameter and those who read it: the pruner's own, or its values at one time."""

    def __init__(self, layer: Any, recipe: Dict[str, Any], logits: Optional[torch.Tensor]):
        self.layer = layer
        self.leaf: Optional[torch.Tensor] = layer.leaf  # the pruner's own; copies that follow have others
        self.layout: Layout = layer.layout
        self.score: str = recipe["score"]
        self.logits = logits
        density = layer.keep / layer.blocks
        low, high = recipe["clip_low"], recipe["clip_high"]
        self.limits: Optional[Tuple[float, float]] = (
            (density if low is None else low, 1 / density if high is None else high) if recipe["clip"] else None
        )
        self.takes_part: bool = layer.takes_part  # the module asks before it runs
        self.compact = False  # the gradient of kept blocks stays where hewn.Optimiser looks for it
        self.values: Optional[torch.Tensor] = None
        self.active: Optional[torch.Tensor] = None

    def refresh(self) -> None:
        """Notes what tracing must see as plain tensors: after every change of supports."""
        self.active = self.layer.support

    def __call__(self, leaf: torch.Tensor) -> torch.Tensor:
        if self.layer is not None and not is_compiling():
            return self.layer.gated(leaf)
        gate = self.values if self.layer is None else self.formula(leaf)
        if gate is None and self.active is None:
            return leaf
        return torch.ops.hewn.block_scale(leaf, gate, self.active, self.layout)

    def formula(self, leaf: torch.Tensor) -> Optional[torch.Tensor]:
        """The multiplier per block in operators that torch.compile can trace, where they are known."""
        if self.score in ("magnitude", "reconstruction"):
            return None
        if self.logits is not None and self.score in ("l1-mask", "identity-mask"):
            return self.logits
        if self.logits is not None and self.score == "exp":
            return self.logits.exp()
        if self.logits is not None and self.score in ("attention", "gated-norm"):
            attention = torch.softmax(self.logits, 0) * self.logits.numel()
            return attention if self.limits is None else attention.clamp(*self.limits)
        return self.layer.gate(leaf)

    def snapshot(self) -> "Gate":
        """The gate as it is now, without the pruner: what copies and files of a module keep."""
        other = object.__new__(Gate)
        other.__dict__.update(self.__dict__)
        other.layer = other.leaf = other.logits = None
        other.compact = other.takes_part = False
        if self.layer is not None:
            with torch.no_grad():
                gate = self.layer.gate(self.layer.leaf)
            other.values = None if gate is None else gate.detach().clone()
            other.active = None if self.layer.support is None else self.layer.support.clone()
        else:
            other.values = None if self.values is None else self.values.clone()
            other.active = None if self.active is None else self.active.clone()
        return other

    def __deepcopy__(self, memo: Any) -> "Gate":
        return self.snapshot()

    def __getstate__(self) -> Any:
        return self.snapshot().__dict__

    def to_device_of(self, leaf: torch.Tensor) -> None:
        """A snapshot follows its module to another device."""
        if self.layer is None:
            self.values = None if self.values is None else self.values.to(leaf.device, leaf.dtype)
            self.active = None if self.active is None else self.active.to(leaf.device)


def _reader(name: str) -> property:
    def read(self: nn.Module) -> torch.Tensor:
        gates = self.__dict__.get("_hewn_gates")
        if gates is None:  # an AttributeError would make nn.Module give the parameter without its gate
            raise RuntimeError(f"hewn: this {type(self).__name__} has lost its gates")
        gate, leaf = gates[name], self._parameters[name]
        if gate.layer is not None and not is_compiling():  # most of the time: without another call
            return gate.layer.gated(leaf)
        return gate(leaf)

    return property(read, doc=f"{name} behind its gate; the parameter itself is in named_parameters()")


def _on_blocks(self: nn.Module, x: torch.Tensor) -> Optional[torch.Tensor]:
    """What a Linear or Conv2d layer gives on its kept blocks alone, where it runs on them."""
    gate = self._hewn_gates["weight"]
    layer = gate.layer
    if layer is None or is_compiling() or self._parameters["weight"] is not gate.leaf:
        return None
    if layer.listening and self.training:
        layer.see(x.detach())
    if not layer.on_blocks or x.dtype != torch.float32 or torch.is_autocast_cpu_enabled():
        return None
    return layer.run(x, self.bias, gate.compact)


def _rebuild(base: Any, names: Tuple[str, ...]) -> nn.Module:
    module = base.__new__(base)
    object.__setattr__(module, "__class__", gated_class(base, names))
    return module


@functools.lru_cache(maxsize=None)
def gated_class(base: Any, names: Tuple[str, ...], asks: bool = False) -> type:
    """The subclass of a module's class in which these parameters are seen through gates.

    One that `asks` may run on kept blocks alone, or show its inputs to a score; the others' forward pass is untouched.
    """

    def reduce(self: nn.Module, protocol: int) -> Any:
        return _rebuild, (base, names), self.__dict__

    def apply(self: nn.Module, fn: Any, *args: Any, **kwargs: Any) -> nn.Module:
        base._apply(self, fn, *args, **kwargs)  # type: ignore[attr-defined]
        for name in names:
            self._hewn_gates[name].to_device_of(self._parameters[name])
        return self

    members: dict = {name: _reader(name) for name in names}
    members.update(__reduce_ex__=reduce, _apply=apply, __module__=base.__module__, __qualname__=base.__qualname__)
    members.update(_hewn_base=base, __doc__=base.__doc__)
    if asks and names == ("weight",) and getattr(base, "forward", None) in (nn.Linear.forward, nn.Conv2d.forward):

        def forward(self: nn.Module, input: torch.Tensor) -> torch.Tensor:
            out = _on_blocks(self, input)
            return base.forward(self, input) if out is None else out  # type: ignore[attr-defined]

        members["forward"] = forward
    return type(base)(base.__name__, (base,), members)


def add_gate(module: nn.Module, name: str, gate: Gate) -> None:
    """From now on the module's parameter of that name is seen through the gate."""
    base: Any = getattr(type(module), "_hewn_base", type(module))
    gates = dict(module.__dict__.get("_hewn_gates", {}))
    gates[name] = gate
    module.__dict__["_hewn_gates"] = gates
    object.__setattr__(module, "__class__", gated_class(base, tuple(sorted(gates)), gate.takes_part))


def remove_gates(module: nn.Module) -> None:
    """Makes it the plain module that it was."""
    if "_hewn_gates" in module.__dict__:
        del module.__dict__["_hewn_gates"]
        object.__setattr__(module, "__class__", type(module)._hewn_base)  # type: ignore[attr-defined]


def fold(module: nn.Module) -> None:
    """Makes the gated values the parameters' own, in a module and all below it, and opens the gates."""
    done = set()
    with torch.no_grad():
        for child in module.modules():
            for name, gate in child.__dict__.get("_hewn_gates", {}).items():
                leaf = child._parameters[name]
                if id(leaf) not in done:  # layers may share it
                    leaf.copy_(gate(leaf))  # type: ignore[union-attr]
                    done.add(id(leaf))
            remove_gates(child)
