"""Finds the weights of a module that can be pruned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, Iterator, List, Optional, Tuple

import torch
from torch import nn

from . import _C


@dataclass
class Slot:
    """A weight that can be pruned, and the modules that compute with it."""

    name: str  # of the layer, as `hewn plan` shows it
    leaf: nn.Parameter
    groups: int = 1
    linear: bool = False
    window: Optional[List[int]] = None  # of a convolution that the kernels can run
    readers: List[Tuple[nn.Module, str]] = field(default_factory=list)

    def native(self) -> "_C.Slot":
        return _C.Slot(self.name, self.leaf, self.groups, self.linear, self.window)


def unwrapped(model: nn.Module) -> nn.Module:
    """The user's own module inside DistributedDataParallel and torch.compile."""
    while True:
        if isinstance(model, (nn.parallel.DistributedDataParallel, nn.DataParallel)):
            model = model.module
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod  # type: ignore[assignment]
        else:
            return model


def conv_window(conv: nn.Conv2d) -> Optional[List[int]]:
    """Kernel height and width, stride, padding and dilation; nothing where the kernels cannot run it."""
    if conv.groups != 1 or conv.padding_mode != "zeros" or isinstance(conv.padding, str):
        return None
    if any(pair[0] != pair[1] for pair in (conv.stride, conv.padding, conv.dilation)):
        return None
    return [*conv.kernel_size, conv.stride[0], conv.padding[0], conv.dilation[0]]


def _of_layer(name: str, module: nn.Module, embeddings: bool) -> Iterator[Tuple[str, str, int]]:
    """Name, attribute and groups of each weight of one layer."""
    if isinstance(module, nn.MultiheadAttention):
        for part, groups in (("in_proj", 3), ("q_proj", 1), ("k_proj", 1), ("v_proj", 1)):
            if module._parameters.get(f"{part}_weight") is not None:
                yield f"{name}.{part}" if name else part, f"{part}_weight", groups
    elif isinstance(module, nn.Linear):
        yield name, "weight", 1
    elif isinstance(module, (nn.Conv1d, nn.Conv2d)):
        yield name, "weight", module.groups
    elif isinstance(module, nn.Embedding) and embeddings and not module.sparse:
        yield name, "weight", 1


def find_slots(model: nn.Module, embeddings: bool) -> List[Slot]:
    """All weights that could be pruned, in the order of named_modules. A weight that layers share is one slot."""
    slots: Dict[int, Slot] = {}
    for name, module in model.named_modules():
        for layer, attribute, groups in _of_layer(name, module, embeddings):
            leaf = module._parameters.get(attribute)
            if leaf is None or isinstance(leaf, nn.parameter.UninitializedParameter):
                continue
            known = slots.get(id(leaf))
            if known is None:
                linear = type(module).forward is nn.Linear.forward
                window = conv_window(module) if isinstance(module, nn.Conv2d) else None
                slots[id(leaf)] = Slot(layer, leaf, groups, linear, window, [(module, attribute)])
            else:
                # Each reader would need kept blocks of its own: shared weights run dense.
                known.readers.append((module, attribute))
                known.linear, known.window = False, None
    return list(slots.values())


def chosen(slots: List[Slot], include: Callable[[str, nn.Module], bool]) -> List[str]:
    """Names of the slots whose layers the predicate takes."""
    return [slot.name for slot in slots if include(slot.name, slot.readers[0][0])]
