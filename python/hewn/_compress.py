"""Runs a pruned model on its kept blocks."""

from __future__ import annotations

import copy
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import nn

from . import _C
from ._blocks import Blocks, LayerBlocks
from ._errors import Error
from ._export import runtime_of
from ._kept import KeptAttention, KeptConv2d, KeptLinear, _Kept
from ._slots import Slot, conv_window, find_slots, unwrapped
from ._summary import Table

_SIDES = (64, 32, 16, 8, 4)


def blocks_of(model: nn.Module, block: Optional[int] = None) -> Blocks:
    """The kept blocks of a pruned model: those that `Pruner.finish` noted on its layers, else those that are not all
    zero, in blocks of that size or of the largest size that the zeros form.

    >>> import torch, hewn
    >>> layer = torch.nn.Linear(8, 8)
    >>> with torch.no_grad(): _ = layer.weight[:4].zero_()
    >>> hewn.blocks_of(layer)[""].density
    0.5
    """
    out: Blocks = {}
    for name, module in model.named_modules():
        if isinstance(module, _Kept):
            out[name] = module.blocks
    slots = find_slots(model, embeddings=True)
    noted = {slot.name: slot.readers[0][0].__dict__.get("_hewn_blocks", {}).get(slot.readers[0][1]) for slot in slots}
    if any(noted.values()):
        out.update({name: blocks for name, blocks in noted.items() if blocks is not None})
        return out
    sides = (block,) if block is not None else _SIDES
    for side in sides:
        found = {slot.name: _by_zeros(slot, side) for slot in slots if (slot.leaf == 0).any()}
        if found and all(blocks is not None for blocks in found.values()):
            return {**out, **{name: blocks for name, blocks in found.items() if blocks is not None}}
    return out


def _by_zeros(slot: Slot, side: int) -> Optional[LayerBlocks]:
    """The blocks of that size that are not all zero; nothing where zeros lie between other values."""
    weight = slot.leaf.detach()
    matrix = weight.reshape(weight.shape[0], weight.shape[1], -1).permute(0, 2, 1).reshape(weight.shape[0], -1)
    grid = LayerBlocks(matrix.shape[1], matrix.shape[0], (side, side), slot.groups, ())
    all_blocks = LayerBlocks(grid.rows, grid.cols, grid.block, grid.groups, tuple(range(grid.blocks)))
    values = _C.gather(weight, *all_blocks.native())
    sizes = _C.gather(torch.ones_like(weight), *all_blocks.native())
    zeros = ((values == 0) & (sizes != 0)).flatten(1).sum(1)
    if not bool(((zeros == 0) | (zeros == sizes.flatten(1).sum(1))).all()):
        return None
    # Values come by output block, then input block; numbers count by input block.
    down, across = grid.shape
    kept = (zeros == 0).view(across, down).t().reshape(-1).nonzero().flatten()
    return LayerBlocks(grid.rows, grid.cols, grid.block, grid.groups, tuple(kept.tolist()))


def compress(model: nn.Module, blocks: Optional[Blocks] = None, *, example: Optional[torch.Tensor] = None,
             all_layers: bool = False) -> nn.Module:
    """A copy of a pruned model whose pruned layers run on their kept blocks alone.

    Linear and Conv2d layers, and the projections of MultiheadAttention, become modules on our CPU kernels where a fixed
    rule of block, size and density says that this is faster (``all_layers``: wherever it can be done). They can be
    trained; which blocks are kept stays. Of a model on a Hopper GPU in bfloat16 or half Linear layers do, and run on
    their kept blocks without gradients (``torch.no_grad``). `report` says what became of each layer.

    With an `example` input the whole network is also made ready for the runtime, where it or ONNX knows all of its
    operators: in evaluation, without gradients and on the CPU, the copy then runs there, batch norms folded. The weights are
    those of the call; training the copy or loading other weights into it ends that.

    Args:
        model: after `Pruner.finish`.
        blocks: what `finish` returned; none: what it noted on the layers, or blocks of zeros.

    >>> import torch, hewn
    >>> model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.ReLU())
    >>> with torch.no_grad(): _ = model[0].weight[16:].zero_()
    >>> fast = hewn.compress(model)
    >>> x = torch.randn(4, 128)
    >>> torch.allclose(fast(x), model(x), atol=1e-5), type(fast[0]).__name__
    (True, 'KeptLinear')
    """
    model = unwrapped(model)
    if any("_hewn_gates" in module.__dict__ for module in model.modules()):
        raise Error("compress: the model is still being pruned; call Pruner.finish() first")
    kept = blocks_of(model) if blocks is None else blocks
    out = copy.deepcopy(model)
    slots = {slot.name: slot for slot in find_slots(out, embeddings=True)}
    rows: List[Tuple[Any, ...]] = []
    taken: Dict[str, LayerBlocks] = {}
    for name, layer in kept.items():
        if name not in slots:
            if isinstance(dict(out.named_modules()).get(name), _Kept):
                continue
            raise Error(f"blocks: the model has no layer {name}")
        why = _why_dense(slots[name], layer, all_layers)
        if not why:
            _C.check_zeros(name, slots[name].leaf, *layer.native())
            taken[name] = layer
        rows.append((name or "(model)", len(layer.kept), layer.blocks, f"{layer.density:.1%}",
                     why or "kept blocks"))
    out = _replace(out, slots, taken)
    for module in out.modules():
        if isinstance(module, KeptLinear):
            module.always = module.always or all_layers
    out.__dict__["_hewn_report"] = Table("compressed", ["layer", "kept", "blocks", "density", "runs on"], rows)
    if example is not None:
        _attach_runtime(out, model, kept, example)
    return out


def report(model: nn.Module) -> Table:
    """What `compress` did to each pruned layer, and why."""
    table = model.__dict__.get("_hewn_report")
    if table is None:
        raise Error("report: expected what hewn.compress returned")
    return table


def _why_dense(slot: Slot, layer: LayerBlocks, all_layers: bool) -> str:
    module, attribute = slot.readers[0]
    if len(slot.readers) > 1:
        return "dense: layers share the weight"
    if isinstance(module, nn.MultiheadAttention) and not KeptAttention.fits(module):
        return "dense: attention of this form"
    if isinstance(module, nn.Conv2d) and conv_window(module) is None:
        return "dense: convolution of this form"
    if not isinstance(module, (nn.Linear, nn.Conv2d, nn.MultiheadAttention)):
        return f"dense: {type(module).__name__} has no kernel"
    device, dtype = slot.leaf.device.type, slot.leaf.dtype
    if device == "cuda" and isinstance(module, nn.modules.linear.NonDynamicallyQuantizableLinear):
        return "dense: its attention has no kernel for cuda"
    if device == "cuda" and not isinstance(module, nn.Linear):
        return f"dense: {type(module).__name__} has no kernel for cuda"
    if dtype not in {"cpu": (torch.float32,), "cuda": (torch.bfloat16, torch.float16)}.get(device, ()):
        return f"dense: no kernel for {dtype} on {device}"
    if device == "cuda" and _C.device_architecture() < 80:
        return "dense: no kernel for this GPU"
    limit = _C.usual_limit(layer.native()[0]) if device == "cpu" else _C.device_limit(layer.native()[0])
    if not all_layers and layer.density > limit:
        return f"dense: faster above a density of {limit:g}" if limit > 0 else "dense: faster with this block and size"
    return ""


def _replace(model: nn.Module, slots: Dict[str, Slot], taken: Dict[str, LayerBlocks]) -> nn.Module:
    new: Dict[int, nn.Module] = {}
    for name, layer in taken.items():
        module, _ = slots[name].readers[0]
        if isinstance(module, nn.Conv2d):
            new[id(module)] = KeptConv2d(module, layer)
        elif isinstance(module, nn.Linear):
            new[id(module)] = KeptLinear(module.weight, layer, module.bias)
    for name, layer in taken.items():
        module, _ = slots[name].readers[0]
        if isinstance(module, nn.MultiheadAttention):
            projection = KeptLinear(module.in_proj_weight, layer, module.in_proj_bias)
            new[id(module)] = KeptAttention(module, projection, new.get(id(module.out_proj), module.out_proj))
    # The output projection of an attention that stays as it is must stay too: it is read, not called.
    inside = {id(module.out_proj) for module in model.modules()
              if isinstance(module, nn.MultiheadAttention) and id(module) not in new}
    for parent in list(model.modules()):
        for child_name, child in list(parent.named_children()):
            if id(child) in new and id(child) not in inside:
                setattr(parent, child_name, new[id(child)].train(child.training))
    return new.get(id(model), model)


def decompress(model: nn.Module) -> nn.Module:
    """A copy of a compressed model with plain layers again, and zeros: the inverse of `compress`."""
    out = copy.deepcopy(model)
    out.__dict__.pop("_hewn_report", None)
    if isinstance(out, (KeptLinear, KeptConv2d)):
        return out.plain()
    for parent in list(out.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, (KeptLinear, KeptConv2d)):
                setattr(parent, name, child.plain())
    for parent in list(out.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, KeptAttention):
                setattr(parent, name, child.plain())
    return out


class _WholeNetwork:
    """A network on the runtime, for the weights it was made with."""

    def __init__(self, runtime: Any, shape: Tuple[int, ...], parameters: List[torch.Tensor]):
        self.runtime = runtime
        self.shape = shape
        self.versions = [tensor._version for tensor in parameters]

    def __deepcopy__(self, memo: Any) -> None:
        return None

    def __reduce__(self) -> Any:  # not part of files: made anew by compress
        return type(None), ()


def _attach_runtime(out: nn.Module, model: nn.Module, blocks: Blocks, example: torch.Tensor) -> None:
    runtime = runtime_of(model, example, blocks)
    if runtime is None:
        return
    whole = _WholeNetwork(runtime, tuple(example.shape[1:]), list(out.parameters()))
    out.__dict__["_hewn_whole"] = whole
    base = type(out)

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        ready = self.__dict__.get("_hewn_whole")
        if ready is not None and len(args) == 1 and not kwargs and not self.training and not torch.is_grad_enabled():
            x = args[0]
            same = [p._version for p in self.parameters()] == ready.versions
            if same and x.device.type == "cpu" and x.dtype == torch.float32 and tuple(x.shape[1:]) == ready.shape:
                ready.runtime.set_threads(torch.get_num_threads())
                return ready.runtime.run(x)
        return base.forward(self, *args, **kwargs)

    def reduce(self: nn.Module, protocol: int) -> Any:
        return _plain_copy, (base,), {k: v for k, v in self.__dict__.items() if k != "_hewn_whole"}

    out.__class__ = type(base.__name__, (base,), {"forward": forward, "__reduce_ex__": reduce})


def _plain_copy(base: Any) -> nn.Module:
    return base.__new__(base)
